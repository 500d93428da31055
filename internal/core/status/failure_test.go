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

func TestNote(t *testing.T) {
	if got := Note("short"); got != "short" {
		t.Errorf("Note changed %q", got)
	}
	for _, long := range []string{
		strings.Repeat("a", 2000), strings.Repeat("ä", 2000),
		"a" + strings.Repeat("…", 2000),
	} {
		got := Note(long)
		if len(got) > MaxNote || len(got) < MaxNote-8 || !strings.HasSuffix(got, "…") || strings.ContainsRune(got, '�') {
			t.Errorf("Note of %d bytes: %d bytes", len(long), len(got))
		}
	}
}
