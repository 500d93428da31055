package release_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		asked, version string
		exact          bool
	}{
		{"0.7", "0.7", true},
		{"0.7.3", "0.7.3", true},
		{"v0.7.1", "0.7.1", true},
		{"0.7.9", "0.7.9", false},
		{"0.2.22", "0.2.22", false},
		{"0.5.0", "0.5.0", false},
		{"v1.0.4", "1.0.4", true},
		{"0.7.3-2", "0.7.3-2", false},
		{"0.7.3rc1", "0.7.3rc1", false},
	}
	for _, tt := range tests {
		t.Run(tt.asked, func(t *testing.T) {
			match, err := release.Lookup(tt.asked)
			if err != nil {
				t.Fatal(err)
			}
			if match.Asked != tt.version || match.Exact != tt.exact || !strings.HasPrefix(tt.version, match.Release.Line) {
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
	want := `unknown server release "0.1"; known release lines: 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5`
	if err == nil || err.Error() != want {
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
		r := lineOf(t, line)
		if r.Line != line || !slices.Contains(r.Covers, r.Version) {
			t.Errorf("line %s: data of %s %s, which covers %v", line, r.Line, r.Version, r.Covers)
		}
		if again, _ := release.Lookup(r.Version); again.Release != r {
			t.Errorf("line %s is loaded twice", line)
		}
		for _, version := range r.Covers {
			if again, _ := release.Lookup(version); again.Release != r || !again.Exact {
				t.Errorf("line %s covers %s, but the lookup of this release does not return the line", line, version)
			}
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
			t.Errorf("the round trip of %q returns %q", api, got)
		}
	}
	if diff := cmp.Diff(true, slices.IsSorted(release.KnownAPIs())); diff != "" {
		t.Error("KnownAPIs is not sorted")
	}
}

// TestOffered checks that the offered lines have data, that the default is one of them, and that the error for any
// other line lists the offered lines.
func TestOffered(t *testing.T) {
	offered := release.Offered()
	if !slices.Contains(offered, release.DefaultLine()) || !slices.IsSortedFunc(offered, release.Compare) {
		t.Errorf("offered are %v", offered)
	}
	for _, line := range append(release.Lines(), offered...) {
		match, err := release.LookupOffered(line)
		var unknown *release.UnknownError
		switch {
		case slices.Contains(offered, line):
			if err != nil || match.Release.Line != line {
				t.Errorf("%s: %v", line, err)
			}
		case !errors.As(err, &unknown) || !slices.Equal(unknown.Lines, offered):
			t.Errorf("%s is not offered, and the error is %v", line, err)
		}
	}
}

func TestLineOf(t *testing.T) {
	for version, want := range map[string]string{
		"0.7.1": "0.7", "v0.7.1": "0.7", "0.7": "0.7", "0.7.1.dev3": "0.7", "1.0.0rc1": "1.0", "1.0rc1": "1.0",
		"0.70.1":       "0.70",
		"0.2.25+rhai0": "0.2", "9.9.9": "9.9", "": "", "7": "", "latest": "", "x0.7.1": "", "0.": "",
	} {
		if got := release.LineOf(version); got != want {
			t.Errorf("LineOf(%q) = %q, want %q", version, got, want)
		}
	}
}

func TestCompareLines(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"0.7", "0.7", 0}, {"0.9", "0.10", -1}, {"1.0", "0.10", 1}} {
		if got := release.Compare(tt.a, tt.b); got != tt.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestDecodeErrors checks the errors for data that hack/release-data does not write.
func TestDecodeErrors(t *testing.T) {
	const classes = `"top_level": "A", "server": "A", "classes": {"A": {"extra": "ignore", "keys": []}}`
	for text, want := range map[string]string{
		"{":                 "decode release data: unexpected end of JSON input",
		`{"line": "9.9"}`:   `release 9.9: top_level refers to the class "", which has no description`,
		"{" + classes + "}": "",
		"{" + classes + `, "storage": {"stores": [{"name": "s"}]}}`:                  `store s refers to the class ""`,
		"{" + classes + `, "storage": {"backends": [{"name": "b", "class": "B"}]}}`:  `backend b refers to the class "B"`,
		"{" + classes + `, "resources": [{"kind": "models", "class": "B"}]}`:         `resource models refers to the class "B"`,
		"{" + classes + `, "providers": {"a": {"t": {"type": "t", "config": "B"}}}}`: `provider t refers to the class "B"`,
		`{"classes": {"A": {"keys": [{"name": "k", "type": "list["}]}}}`:             `class "A": key "k": parse type expression`,
	} {
		_, err := release.Decode([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}
