package realserver

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

func TestReleases(t *testing.T) {
	for _, tc := range []struct {
		named       string
		start, read []string
	}{
		{"0.7", []string{"0.7"}, []string{"0.7"}},
		{"1.5.0, 0.3 1.5", []string{"0.3", "1.5"}, []string{"0.3", "1.5"}},
		{"all", release.Offered(), release.Lines()},
	} {
		t.Run(tc.named, func(t *testing.T) {
			t.Setenv(releasesVariable, tc.named)
			if !Named() {
				t.Error("Named returns false, although RELEASES is set")
			}
			if diff := cmp.Diff(tc.start, lines(t, Releases)); diff != "" {
				t.Errorf("releases to start (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.read, lines(t, ReleasesToRead)); diff != "" {
				t.Errorf("releases to read with (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReleasesOfEveryRun checks that, if RELEASES is not set, every line reads configurations, and lines with changed
// data are also started.
func TestReleasesOfEveryRun(t *testing.T) {
	t.Setenv(releasesVariable, "")
	if Named() {
		t.Error("Named returns true, although RELEASES is not set")
	}
	if diff := cmp.Diff(release.Lines(), lines(t, ReleasesToRead)); diff != "" {
		t.Errorf("releases to read with (-want +got):\n%s", diff)
	}
	changed, err := Changed()
	if err != nil {
		t.Fatal(err)
	}
	offered := release.Offered()
	want := append(slices.Clone(changed), firstLine, release.DefaultLine(), offered[len(offered)-1])
	slices.SortFunc(want, release.Compare)
	if diff := cmp.Diff(slices.Compact(want), lines(t, Releases)); diff != "" {
		t.Errorf("releases to start (-want +got):\n%s", diff)
	}
}

func TestUnknownReleaseNamed(t *testing.T) {
	t.Setenv(releasesVariable, "0.7 9.9")
	if _, err := Releases(); err == nil || !strings.Contains(err.Error(), `variable RELEASES`) ||
		!strings.Contains(err.Error(), `9.9`) {
		t.Errorf("error is %v", err)
	}
}

func lines(t *testing.T, releases func() ([]*release.Release, error)) []string {
	t.Helper()
	found, err := releases()
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(found))
	for i, rel := range found {
		names[i] = rel.Line
	}
	return names
}
