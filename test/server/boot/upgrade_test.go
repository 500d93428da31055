//go:build server

package boot

import (
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// TestUpgrade upgrades two stacks through the selected releases, from the oldest to the newest. It checks that each
// release starts with the state of the previous release, lists the model, and returns the chat completions and the
// files that clients stored with each earlier release. Only the stack with a volume keeps files.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	releases, err := realserver.Releases()
	if err != nil {
		t.Fatal(err)
	}
	// Release 0.2 stores its data in different files and in a different form.
	releases = slices.DeleteFunc(releases, func(rel *release.Release) bool { return rel.Storage.Inline })
	slices.SortFunc(releases, func(a, b *release.Release) int { return release.Compare(a.Version, b.Version) })
	for _, file := range []string{"testdata/volume.yaml", "v1alpha2-postgres.yaml"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			var inputs []any
			var versions []string
			for _, rel := range releases {
				s := readSample(t, file)
				s.fit(t, rel, s.planned())
				inputs, versions = append(inputs, s.input(t, rel)), append(versions, rel.Version)
			}
			realserver.Once(t, versions, func() { upgrade(t, file, releases) }, inputs...)
		})
	}
}

// upgrade starts the server of each release with the state of the previous release.
func upgrade(t *testing.T, file string, releases []*release.Release) {
	t.Helper()
	template, root := readSample(t, file), t.TempDir()
	on := template.startPlace(t, releases[0])
	stored := clientData{withFiles: template.stack.Spec.Workload != nil && template.stack.Spec.Workload.Storage != nil}
	for _, rel := range releases {
		s := readSample(t, file)
		s.fit(t, rel, on)
		server := bootSample(t, rel, s, root)
		checkVersion(t, server, rel)
		m := model{provider: "vllm", name: "llama3.2-8b"}
		checkList(t, server, "/v1/models", []string{m.public(rel)})
		stored.check(t, server, rel)
		stored.add(t, server, m.public(rel), rel)
		server.stop()
	}
}

// clientData is the data that clients stored in a server.
type clientData struct {
	// withFiles is true if the stack keeps files.
	withFiles bool
	// files maps the ID of each file to the release with which a client uploaded the file.
	files map[string]string
	// completions is the number of chat completions that the server listed after the last one was stored.
	completions int
}

// If the stack keeps files, add uploads a file. It always sends a message to the model, and waits until the server has
// stored the answer.
func (d *clientData) add(t *testing.T, server *llamaStack, model string, rel *release.Release) {
	t.Helper()
	if d.withFiles {
		id, err := server.upload(t.Context(), strconv.Quote(rel.Version))
		if err != nil {
			t.Fatalf("%s: %v", rel.Version, err)
		}
		if d.files == nil {
			d.files = map[string]string{}
		}
		d.files[id] = rel.Version
	}
	chat := func() error {
		_, err := server.chat(t.Context(), model)
		return err
	}
	if err := chat(); err != nil {
		t.Fatalf("%s: %v", rel.Version, err)
	}
	d.completions = checkState(t, server, nil, d.completions, chat)
}

// check compares a server's data with the data that clients stored.
func (d *clientData) check(t *testing.T, server *llamaStack, rel *release.Release) {
	t.Helper()
	for id, with := range d.files {
		var content string
		err := server.ask(t.Context(), http.MethodGet, "/v1/files/"+id+"/content", nil, &content)
		if err != nil || content != with {
			t.Errorf("%s returns %q for the file that was uploaded with %s: %v", rel.Version, content, with, err)
		}
	}
	if kept, err := server.kept(t.Context()); err != nil || kept < d.completions {
		t.Errorf("%s lists %d chat completions, %v, want at least %d", rel.Version, kept, err, d.completions)
	}
}
