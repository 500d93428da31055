package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunReportsMissingArguments(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no registry": {[]string{"operator"}, "a registry and at least one image are required"},
		"no image":    {[]string{"-registry=localhost:1"}, "and name one or more of these images: operator"},
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

func TestFurtherNames(t *testing.T) {
	wanted, names := furtherNames([]string{"operator", "server@0.7.3=a/b:1", "standin@0.7.1", "server@0.7.3=c/d:2"})
	if diff := cmp.Diff([]string{"operator", "server@0.7.3", "standin@0.7.1"}, wanted); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{"server@0.7.3": {"a/b:1", "c/d:2"}}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
