package manager

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// The operator logs warnings from the API server only at debug level, and truncates each warning.
func TestVerboseWarnings(t *testing.T) {
	for level, want := range map[int]int{0: 0, 1: 2} {
		var lines []string
		logger := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{Verbosity: level})
		ctx := logr.NewContext(t.Context(), logger)
		for _, text := range []string{"", "short", strings.Repeat("x", 10_000)} {
			verboseWarnings{}.HandleWarningHeaderWithContext(ctx, 299, "", text)
		}
		if len(lines) != want {
			t.Errorf("level %d: %d lines, want %d", level, len(lines), want)
		}
		for _, line := range lines {
			if len(line) > maxWarning+100 {
				t.Errorf("level %d: a line of %d bytes", level, len(line))
			}
		}
	}
}
