//go:build server

package external

import (
	"encoding/json"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHowReleasesLoad runs the code of the releases and checks how they use module and provider_type. The package
// comment describes the result. All releases behave in the same way, except that 0.2 does not support lists.
func TestHowReleasesLoad(t *testing.T) {
	want := map[string]string{
		"one":                            "found with the type remote::one",
		"one, with another type":         "found with the type remote::one",
		"one, with a type of the server": "found with the type remote::one",
		"one, with a version":            "found with the type remote::one",
		"a list":                         "found with the type remote::two",
		"a list without the type":        "not found",
		"in the package itself":          "ValueError: get_provider_spec not found",
		"in a separate module":           "ValueError: get_provider_spec not found",
		"no such function":               "AttributeError: module 'p8_none",
		"an import that is missing":      "ValueError: get_provider_spec not found",
		"an import that fails":           "ZeroDivisionError: division by zero",
	}
	eachReleaseAgain(t, func(t *testing.T, in interpreter) {
		t.Parallel()
		in.once(t, func() { in.checkLoading(t, want) })
	})
}

func (in interpreter) checkLoading(t *testing.T, want map[string]string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), in.python, "how_releases_load.py", in.rel.Module, t.TempDir())
	var problems strings.Builder
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	var got map[string]string
	if err := json.Unmarshal(output[strings.LastIndex(strings.TrimSpace(string(output)), "\n")+1:], &got); err != nil {
		t.Fatalf("read %q: %v", output, err)
	}
	want = maps.Clone(want)
	if in.rel.Line == "0.2" {
		want["a list"], want["a list without the type"] = "found, but a list instead of one specification", "found, but a list instead of one specification"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}
