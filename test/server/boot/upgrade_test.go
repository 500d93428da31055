//go:build server

package boot

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// TestUpgrade upgrades two stacks through the selected releases, from the oldest to the newest. It checks that each
// release starts with the state of the previous release, and lists the model.
func TestUpgrade(t *testing.T) {
	releases, err := realserver.Releases()
	if err != nil {
		t.Fatal(err)
	}
	// Release 0.2 stores its data in other files and in another form.
	releases = slices.DeleteFunc(releases, func(rel *release.Release) bool { return rel.Storage.Inline })
	slices.SortFunc(releases, func(a, b *release.Release) int { return release.Compare(a.Version, b.Version) })
	for _, file := range []string{"testdata/volume.yaml", "v1alpha2-postgres.yaml"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			template, root := readSample(t, file), t.TempDir()
			on := template.startPlace(t)
			for _, rel := range releases {
				s := readSample(t, file)
				s.fit(t, rel, on)
				server := bootSample(t, rel, s, root)
				checkVersion(t, server, rel)
				m := model{provider: "vllm", name: "llama3.2-8b"}
				checkList(t, server, "/v1/models", []string{m.public(rel)})
				server.stop()
			}
		})
	}
}
