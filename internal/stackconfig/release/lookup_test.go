package release_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		asked, version string
		exact          bool
	}{
		{"0.7", "0.7", true},
		{"0.7.3", "0.7.3", true},
		{"v0.7.1", "0.7.1", true},
		{"0.7.0", "0.7.0", true},
		{"0.7.9", "0.7.9", false},
		{"0.7.3-2", "0.7.3-2", false},
		{"0.7.3rc1", "0.7.3rc1", false},
	}
	for _, tt := range tests {
		t.Run(tt.asked, func(t *testing.T) {
			match, err := release.Lookup(tt.asked)
			if err != nil {
				t.Fatal(err)
			}
			if match.Asked != tt.version || match.Exact != tt.exact || match.Release.Line != "0.7" {
				t.Errorf("got %q, exact %v, of line %s", match.Asked, match.Exact, match.Release.Line)
			}
		})
	}
}

func TestLookupUnknown(t *testing.T) {
	for _, asked := range []string{"", "latest", "0", "9.9", "9.9.9", "0.77", "0.7.", "0.7.3.1", "v", "0.7 ", "-1.0"} {
		t.Run(asked, func(t *testing.T) {
			_, err := release.Lookup(asked)
			var unknown *release.UnknownError
			if !errors.As(err, &unknown) || unknown.Asked != asked || !slices.Equal(unknown.Lines, release.Lines()) {
				t.Errorf("error %v, want an UnknownError that lists the lines", err)
			}
		})
	}
	_, err := release.Lookup("0.1")
	if want := `unknown server release "0.1"; known release lines: 0.7`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestIsVersion(t *testing.T) {
	for text, want := range map[string]bool{"0.7": true, "v1.5.0": true, "0.7.3-2": true, "latest": false, "": false} {
		if got := release.IsVersion(text); got != want {
			t.Errorf("IsVersion(%q) = %v", text, got)
		}
	}
}

func TestEveryLineLoads(t *testing.T) {
	lines := release.Lines()
	if !slices.Contains(lines, release.Default().Line) {
		t.Errorf("the default line %s is not among %v", release.Default().Line, lines)
	}
	for _, line := range lines {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		r := match.Release
		if r.Line != line || !slices.Contains(r.Covers, r.Version) {
			t.Errorf("line %s: data of %s %s, which covers %v", line, r.Line, r.Version, r.Covers)
		}
		if again, _ := release.Lookup(r.Version); again.Release != r {
			t.Errorf("line %s is loaded twice", line)
		}
		for _, api := range r.APIs() {
			if !release.KnownAPI(api) {
				t.Errorf("line %s: API %s is missing in history.yaml", line, api)
			}
		}
	}
}

func TestKnownAPI(t *testing.T) {
	for name, want := range map[string]bool{
		"inference": true, "vectorIo": true, "vector_io": true, "toolRuntime": true,
		"telemetry": true, "agents": true, "postTraining": true, "skills": true,
		"telemtry": false, "": false, "VectorIo": true, "vector-io": false,
	} {
		if got := release.KnownAPI(name); got != want {
			t.Errorf("KnownAPI(%q) = %v", name, got)
		}
	}
}

func TestSpellings(t *testing.T) {
	for camel, snake := range map[string]string{
		"inference": "inference", "vectorIo": "vector_io", "toolRuntime": "tool_runtime", "postTraining": "post_training",
		"": "", "fileProcessors": "file_processors",
	} {
		if got := release.SnakeCase(camel); got != snake {
			t.Errorf("SnakeCase(%q) = %q, want %q", camel, got, snake)
		}
		if got := release.SnakeCase(snake); got != snake {
			t.Errorf("SnakeCase(%q) = %q, want no change", snake, got)
		}
		if got := release.CamelCase(snake); got != camel {
			t.Errorf("CamelCase(%q) = %q, want %q", snake, got, camel)
		}
	}
	for _, api := range release.KnownAPIs() {
		if got := release.SnakeCase(release.CamelCase(api)); got != api {
			t.Errorf("%q comes back as %q", api, got)
		}
	}
	if diff := cmp.Diff(true, slices.IsSorted(release.KnownAPIs())); diff != "" {
		t.Error("KnownAPIs is not sorted")
	}
}
