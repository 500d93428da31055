package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRunAsksForWhatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no registry": {[]string{"operator"}, "which registry"},
		"no image":    {[]string{"-registry=localhost:1"}, "which images: operator"},
		"unknown":     {[]string{"-registry=localhost:1", "own"}, `publish "own": want operator`},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), tc.args, func(string) string { return "" }, &stdout, &stderr)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
		})
	}
}
