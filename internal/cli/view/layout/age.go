package layout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Unknown is the text for a value that is not known.
const Unknown = "-"

// Age returns how long a time was ago, as kubectl shows it.
func Age(at, now time.Time) string {
	if at.IsZero() {
		return Unknown
	}
	return duration.HumanDuration(max(0, now.Sub(at)))
}
