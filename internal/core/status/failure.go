package status

import (
	"fmt"
	"time"
)

// Retry determines when the operator makes another attempt.
type Retry int

const (
	// OnObjectChange means that only a change to the object can resolve the failure. The operator makes no attempt before
	// that change.
	OnObjectChange Retry = iota
	// OnReferenceChange means that something outside the object has to change: a referenced Secret or ConfigMap, an image,
	// or a preflight pod. The operator watches these objects and reads the images from their registries.
	OnReferenceChange
	// Later means another attempt after OwnershipRetry, because the operator does not watch the object that has to change.
	Later
	// Invalid means another attempt after InvalidRetry. The API server rejected an object as invalid, and will reject it
	// until the stack or a rule in the cluster changes.
	Invalid
	// Backoff means attempts with growing delays, which the status reports.
	Backoff
	// Quiet means attempts with growing delays. The status does not report these attempts, because the next attempt will
	// probably succeed.
	Quiet
)

// OwnershipRetry is the delay for Later. With this delay, a stack continues within a minute after its name becomes
// available.
const OwnershipRetry = 45 * time.Second

// InvalidRetry is the delay for Invalid. It is long because each attempt computes a plan, and many stacks may be
// invalid at the same time.
const InvalidRetry = 5 * time.Minute

// Failure is the reason why a step failed.
type Failure struct {
	// Condition is the type of the condition that becomes False.
	Condition string
	// Reason is the reason of that condition.
	Reason string
	// Message is the message of that condition: the problem, its location and the remedy. It never contains a secret.
	Message string
	// Retry determines when the operator tries again.
	Retry Retry
	// Unknown reports whether the status of the condition becomes Unknown instead of False, because the operator cannot
	// determine the status yet.
	Unknown bool
	// Err is the cause, for the log. It may be nil.
	Err error
}

// maxError is the maximum length, in bytes, of a failure's text in the log. An error from the API server can list many
// problems.
const maxError = 2 << 10

// NeedsChange reports whether only a change to the stack can resolve the failure. The operator tries again after
// InvalidRetry, because a rule in the cluster can also change, but users cannot wait for that.
func (f *Failure) NeedsChange() bool { return f.Retry == OnObjectChange || f.Retry == Invalid }

// Error returns the text of the failure for the log.
func (f *Failure) Error() string {
	text := f.Message
	if f.Err != nil {
		text = f.Err.Error()
	}
	return f.Reason + ": " + Shorten(text, maxError)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Shorten shortens text to at most `limit` bytes.
func Shorten(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for end > 0 && text[end]&0xC0 == 0x80 { // do not split a character
		end--
	}
	return text[:end] + ellipsis
}

// MaxNote is the API's limit for the note of an event, in bytes.
const MaxNote = 1024

// Note shortens a message to the limit for the note of an event.
func Note(message string) string { return Shorten(message, MaxNote) }

// Count returns a number with its noun, for example "1 provider" or "2 providers".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// maxTakenOver is the maximum length, in bytes, of the part of a cluster component's message that the status repeats.
const maxTakenOver = 1024

// takenOver shortens a message from a cluster component to maxTakenOver.
func takenOver(message string) string { return Shorten(message, maxTakenOver) }
