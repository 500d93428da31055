package layout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Unknown is the text for a value that is not known.
const Unknown = "-"

// Age returns the time that has passed since at, in the format of kubectl.
func Age(at, now time.Time) string {
	if at.IsZero() {
		return Unknown
	}
	return duration.HumanDuration(max(0, now.Sub(at)))
}
