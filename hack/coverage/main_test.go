package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	tests := map[string]struct {
		profile string
		minimum float64
		want    string
		err     string
	}{
		"a block is covered when any test binary ran it": {
			profile: "mode: set\nm/a/x.go:1.1,2.2 3 0\nm/a/x.go:1.1,2.2 3 1\nm/a/x.go:3.1,4.2 1 0\n",
			minimum: 75,
			want:    "coverage   75.0%  m/a\ncoverage   75.0%  total (4 statements, minimum 75%)\n",
		},
		"packages are sorted and the sum is by statement": {
			profile: "mode: set\nm/b/x.go:1.1,2.2 1 0\nm/a/x.go:1.1,2.2 3 1\n",
			want: "coverage  100.0%  m/a\ncoverage    0.0%  m/b\n" +
				"coverage   75.0%  total (4 statements, minimum 0%)\n",
		},
		"generated files do not count": {
			profile: "mode: set\nm/a/zz_generated.deepcopy.go:1.1,2.2 9 0\nm/a/x.go:1.1,2.2 1 1\n",
			minimum: 100,
			want:    "coverage  100.0%  m/a\ncoverage  100.0%  total (1 statements, minimum 100%)\n",
		},
		"coverage below the limit": {
			profile: "mode: set\nm/a/x.go:1.1,2.2 1 1\nm/a/x.go:3.1,4.2 1 0\n",
			minimum: 80,
			want:    "coverage   50.0%  m/a\n",
			err:     "the tests cover 50.0% of the statements, but the minimum is 80%; add tests",
		},
		"not a profile": {profile: "mode: set\nhello\n", err: `line 2: "hello" is not a block`},
		"not a number":  {profile: "m/a/x.go:1.1,2.2 x 1\n", err: "line 1: number of statements"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			profile := filepath.Join(t.TempDir(), "cover.out")
			if err := os.WriteFile(profile, []byte(test.profile), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err := run(&out, profile, test.minimum)
			if got := out.String(); got != test.want {
				t.Errorf("report:\n%s\nwant:\n%s", got, test.want)
			}
			switch {
			case test.err == "" && err != nil:
				t.Errorf("unexpected error: %v", err)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("error %v does not contain %q", err, test.err)
			}
		})
	}
}

func TestMissingProfile(t *testing.T) {
	if err := run(&bytes.Buffer{}, filepath.Join(t.TempDir(), "none"), 0); err == nil {
		t.Error("no error for a profile that does not exist")
	}
}
