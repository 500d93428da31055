package status

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFailureError checks that the text of a failure in the log is bounded and is valid UTF-8.
func TestFailureError(t *testing.T) {
	long := &Failure{Reason: "Refused", Err: errors.New(strings.Repeat("ä", maxError))}
	if text := long.Error(); len(text) > maxError+len("Refused: ") || !utf8.ValidString(text) || !strings.HasSuffix(text, "…") {
		t.Errorf("%d bytes, which end in %q", len(text), text[len(text)-6:])
	}
	cause := errors.New("boom")
	known := &Failure{Reason: "R", Message: "m", Err: cause}
	if !errors.Is(known, cause) || known.Error() != "R: boom" {
		t.Errorf("unexpected error %q", known.Error())
	}
	short := &Failure{Reason: "Refused", Message: "no"}
	if text := short.Error(); text != "Refused: no" {
		t.Errorf("got %q", text)
	}
}
