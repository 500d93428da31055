package status

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// On a terminal, the watch shows each page. If the output is not a terminal, the watch shows only pages that have
// changed. An error in the first request ends the watch, but a later error does not. An interrupt is not an error.
func TestWatchPages(t *testing.T) {
	for name, tc := range map[string]struct {
		width int
		want  string
	}{
		"not a terminal": {0, "one\n\nerror: away\n\ntwo\n"},
		"a terminal": {80, clearScreen + "one\n" + clearScreen + "one\n" + clearScreen + "error: away\n" + clearScreen +
			"two\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			ticks := make(chan time.Time, 3)
			for range cap(ticks) {
				ticks <- time.Time{}
			}
			states := []string{"one", "one", "", "two"}
			look := func(context.Context) (pageAt, error) {
				state := states[0]
				states = states[1:]
				last := len(states) == 0
				if state == "" {
					return nil, errors.New("away")
				}
				return func(_ time.Time, page *bytes.Buffer) error {
					page.WriteString(state + "\n")
					if last {
						stop()
					}
					return nil
				}, nil
			}
			var out strings.Builder
			testutil.Must(t, watchPages(ctx, app.Streams{Out: &out, Width: tc.width}, ticks, look))
			if out.String() != tc.want {
				t.Errorf("got  %q\nwant %q", out.String(), tc.want)
			}
		})
	}
	err := watchPages(t.Context(), app.Streams{}, nil,
		func(context.Context) (pageAt, error) { return nil, errors.New("away") })
	if err == nil {
		t.Error("no error, although the first request failed")
	}
}
