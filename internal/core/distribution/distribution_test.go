package distribution_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const (
	repository   = "docker.io/ogxai/distribution-"
	starterImage = repository + "starter:0.7.1"
)

// summarize returns the fields of a Resolved that tests compare.
func summarize(r distribution.Resolved) string {
	line := ""
	if r.Release != nil {
		line = r.Release.Line
	}
	return fmt.Sprintf("%s@%s %s: line %s by %s, exact %t, base %t",
		r.Name, r.Version, r.Image, line, r.DetectedBy, r.Exact, len(r.Base) > 0)
}

// resolveCases are the cases of TestResolve.
var resolveCases = map[string]struct {
	name, image, version string
	overrides            distribution.Overrides
	want                 string
}{
	"a name": {
		name: "starter", want: "starter@0.7.1 " + starterImage + ": line 0.7 by catalogue, exact true, base true",
	},
	"a name and a line": {
		name: "starter", version: "0.7",
		want: "starter@0.7.1 " + starterImage + ": line 0.7 by catalogue, exact true, base true",
	},
	"a name and a newer patch than the pinned one": {
		name: "starter", version: "0.7.3",
		want: "starter@0.7.3 " + repository + "starter:0.7.3: line 0.7 by catalogue, exact true, base true",
	},
	"an override without a version": {
		name: "starter", overrides: distribution.Overrides{"starter": "mirror/starter@sha256:abc"},
		want: "starter@0.7.1 mirror/starter@sha256:abc: line 0.7 by catalogue, exact true, base true",
	},
	"an override for the version takes precedence": {
		name: "starter", version: "0.7.3",
		overrides: distribution.Overrides{"starter": "a:0.7.0", "starter@0.7.3": "b:latest"},
		want:      "starter@0.7.3 b:latest: line 0.7 by version, exact true, base true",
	},
	"an override with a tag": {
		name: "starter", overrides: distribution.Overrides{"starter": "mirror/starter:0.7.3"},
		want: "starter@0.7.3 mirror/starter:0.7.3: line 0.7 by tag, exact true, base true",
	},
	"a name that only the administrator defines": {
		name: "rh-dev", overrides: distribution.Overrides{"rh-dev": "registry.example.com/rh-dev:2.25"},
		want: "rh-dev@2.25 registry.example.com/rh-dev:2.25: line 0.7 by unknown, exact false, base false",
	},
	"an image with a tag": {
		image: "registry.example.com:5000/team/stack:v0.7.2",
		want:  "@0.7.2 registry.example.com:5000/team/stack:v0.7.2: line 0.7 by tag, exact true, base false",
	},
	"an image with a newer patch":      {image: "stack:0.7.9", want: "@0.7.9 stack:0.7.9: line 0.7 by tag, exact false, base false"},
	"an image with a tag and a digest": {image: "stack:0.7.3@sha256:abc", want: "@0.7.3 stack:0.7.3@sha256:abc: line 0.7 by tag, exact true, base false"},
	"an image of a release without data": {
		image: repository + "starter:9.5.0",
		want:  "@9.5.0 " + repository + "starter:9.5.0: line 0.7 by unknown, exact false, base false",
	},
	"an image with a version": {
		image: "stack:latest", version: "0.7.3", want: "@0.7.3 stack:latest: line 0.7 by version, exact true, base false",
	},
	"an image without a tag": {
		image: "registry.example.com:5000/stack",
		want:  "@ registry.example.com:5000/stack: line 0.7 by unknown, exact false, base false",
	},
}

func TestResolve(t *testing.T) {
	for name, tt := range resolveCases {
		t.Run(name, func(t *testing.T) {
			got, err := distribution.Resolve(tt.name, tt.image, tt.version, tt.overrides)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, summarize(got)); diff != "" {
				t.Errorf("resolved (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	const (
		offered = "0.2.23 to 0.2.24, 0.3.2 to 0.3.5, 0.4.3 to 0.4.7, 0.5.1 to 0.5.4, 0.6.0 to 0.6.1, 0.7.0 to 0.7.3, 0.8.0, 1.0.3 to 1.0.4, " +
			"1.1.0 to 1.1.3, 1.2.5, 1.3.1, 1.4.1, 1.5.0"
		lines = "0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5"
	)
	tests := map[string]struct {
		name, image, version, want string
		overrides                  distribution.Overrides
	}{
		"unknown name": {
			name: "startr", want: `unknown distribution "startr"; known distributions: meta-reference-gpu, postgres-demo, remote-vllm, starter; use one of them, or set an image; an administrator can add a name under the key image-overrides in the operator's ConfigMap`,
		},
		"unknown name with overrides": {
			name: "startr", overrides: distribution.Overrides{"rh-dev": "a:1", "rh-dev@2": "a:2"},
			want: `unknown distribution "startr"; known distributions: meta-reference-gpu, postgres-demo, remote-vllm, rh-dev, starter; use one of them, or set an image; an administrator can add a name under the key image-overrides in the operator's ConfigMap`,
		},
		"unknown version": {
			name: "starter", version: "0.9",
			want: `distribution "starter" has no version "0.9"; use one of the known versions: ` + offered,
		},
		"a version that shipped before the name": {
			name: "remote-vllm", version: "0.2.24", want: `distribution "remote-vllm" has no version "0.2.24"; use one of the known versions: 0.2.14`,
		},
		"unknown version with a known prefix": {
			name: "starter", version: "0.7.10",
			want: `distribution "starter" has no version "0.7.10"; use one of the known versions: ` + offered,
		},
		"an image of an unknown version": {
			image: "a:1", version: "0.1", want: `distribution version: unknown server release "0.1"; known release lines: ` + lines,
		},
		"both":    {name: "starter", image: "a:1", want: "distribution has both a name and an image; remove one of them"},
		"neither": {want: "distribution has neither a name nor an image; set one of them"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := distribution.Resolve(tt.name, tt.image, tt.version, tt.overrides)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			if !reflect.ValueOf(got).IsZero() {
				t.Errorf("Resolve returns %s in addition to an error", summarize(got))
			}
		})
	}
	_, err := distribution.Resolve("x", "", "", nil)
	if unknown := new(distribution.UnknownError); !errors.As(err, &unknown) || unknown.Name != "x" {
		t.Errorf("error %v is not an UnknownError", err)
	}
}

// TestCatalog checks that every name in every release has a base config, the data of its release line, and a tag that
// contains the release.
func TestCatalog(t *testing.T) {
	want := map[string]string{
		"meta-reference-gpu": "0.2 0.3 0.4",
		"postgres-demo":      "0.2 0.3 0.4 0.5 0.6 0.7 0.8 1.0 1.1 1.2 1.3 1.4 1.5",
		"remote-vllm":        "0.2",
		"starter":            "0.2 0.3 0.4 0.5 0.6 0.7 0.8 1.0 1.1 1.2 1.3 1.4 1.5",
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), distribution.Known(nil)); diff != "" {
		t.Errorf("known names (-want +got):\n%s", diff)
	}
	for name, lines := range want {
		for _, version := range append(distribution.Versions(name), "") {
			got, err := distribution.Resolve(name, "", version, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Image != repository+name+":"+got.Version {
				t.Errorf("%s %q: the image %s is not pinned to %s", name, version, got.Image, got.Version)
			}
			if !strings.HasPrefix(got.Version, got.Release.Line+".") || len(got.Base) == 0 {
				t.Errorf("%s %q: version %s of line %s, base of %d bytes", name, version, got.Version, got.Release.Line, len(got.Base))
			}
		}
		var pinned []string
		for _, line := range release.Lines() {
			got, err := distribution.Resolve(name, "", line, nil)
			if err != nil {
				continue
			}
			pinned = append(pinned, line)
			if got.Release.Line != line {
				t.Errorf("%s %s is %s", name, line, got.Version)
			}
		}
		if diff := cmp.Diff(lines, strings.Join(pinned, " ")); diff != "" {
			t.Errorf("lines of %s (-want +got):\n%s", name, diff)
		}
	}
	starter, err := distribution.Resolve("starter", "", "", nil)
	if err != nil || starter.Release != release.Default() {
		t.Errorf("starter is not in the default release line: %v", err)
	}
	if got := distribution.Versions("stack"); got != nil {
		t.Errorf("the versions of an unknown name are %v", got)
	}
}
