package status

import (
	"time"
	"unicode/utf8"
)

// Retry says what makes another attempt worth while.
type Retry int

const (
	// OnObjectChange: nothing but a change of the object helps. Terminal.
	OnObjectChange Retry = iota
	// OnReferenceChange: a referenced Secret, ConfigMap or image has to change.
	// It is watched, so nothing polls.
	OnReferenceChange
	// Later: another attempt after OwnershipRetry; what has to change is not watched.
	Later
	// Invalid: another attempt after InvalidRetry. The API server found what was made of the object invalid, and does so again
	// until the object changes, or a rule of the cluster.
	Invalid
	// Backoff: attempts with growing delay, shown in status.
	Backoff
	// Quiet: attempts with growing delay; status does not mention it, because
	// the next attempt most likely succeeds.
	Quiet
)

// OwnershipRetry is the delay of Later: short enough that a stack goes on within a
// minute after the name is free.
const OwnershipRetry = 45 * time.Second

// InvalidRetry is the delay of Invalid. An attempt costs a whole plan, so many stacks of one tenant must not make it often.
const InvalidRetry = 5 * time.Minute

// Failure is why a step could not do its work.
type Failure struct {
	// Condition is the type of the condition that becomes False.
	Condition string
	// Reason of that condition.
	Reason string
	// Message of that condition: what is wrong, where, and the remedy. Never a
	// secret's value.
	Message string
	// Retry says when to try again.
	Retry Retry
	// Unknown makes the condition Unknown instead of False: it cannot be told yet.
	Unknown bool
	// Err is the cause, for the log. May be nil.
	Err error
}

// maxError is the most bytes of a failure that go to the log: the API server repeats in one error everything that is wrong
// with an object.
const maxError = 2 << 10

// Error is the failure as the log has it.
func (f *Failure) Error() string {
	text := f.Message
	if f.Err != nil {
		text = f.Err.Error()
	}
	return f.Reason + ": " + Shorten(text, maxError)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Shorten cuts a text to a number of bytes.
func Shorten(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for end > 0 && text[end]&0xC0 == 0x80 { // not in the middle of a character
		end--
	}
	return text[:end] + ellipsis
}

// maxTakenOver bounds what is taken over of a message of the cluster's, in characters.
const maxTakenOver = 1024

// takenOver is a message of the cluster's components: it names objects and never holds
// what a container prints.
func takenOver(message string) string { return truncateMessage(message, maxTakenOver) }

// truncateMessage cuts a message to a number of characters.
func truncateMessage(message string, limit int) string {
	if utf8.RuneCountInString(message) <= limit {
		return message
	}
	return string([]rune(message)[:limit-1]) + "…"
}
