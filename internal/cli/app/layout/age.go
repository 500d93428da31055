package layout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Unknown is the text for an unknown value.
const Unknown = "-"

// Age returns the time since `at` in the format of kubectl, or Unknown if `at` is zero.
func Age(at, now time.Time) string {
	if at.IsZero() {
		return Unknown
	}
	return duration.HumanDuration(max(0, now.Sub(at)))
}
