//go:build release

package release

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
	docs "github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

// A download is a folder with the files that the workflow publishes, and the registry to which it pushes.
type download struct {
	folder, registry string
}

// run runs a shell command in the folder.
func (d download) run(t *testing.T, line string, environment ...string) ([]byte, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", line)
	command.Dir = d.folder
	tools := filepath.Join(worktree.Root(), ".cache/bin")
	command.Env = append(os.Environ(), "COSIGN_PASSWORD=secret", "PATH="+tools+":"+os.Getenv("PATH"))
	command.Env = append(command.Env, environment...)
	return command.CombinedOutput()
}

// publish signs and pushes a release, and downloads its files. It returns the public key, and a stranger's.
func publish(t *testing.T, out string) (d download, public, stranger string) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	d = download{t.TempDir(), strings.TrimPrefix(server.URL, "http://")}
	keys := t.TempDir()
	for _, line := range []string{
		"cd " + keys + "; for name in own other; do cosign generate-key-pair --output-key-prefix=$name; done",
		"PUSH=1 KEY=" + keys + "/own.key REGISTRY=" + d.registry + "/llamastack " +
			filepath.Join(worktree.Root(), "hack/publish-release") + " " + out,
		"cp " + out + "/{*.*,cli/*,sbom/*} .",
	} {
		if printed, err := d.run(t, line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, printed)
		}
	}
	return d, filepath.Join(keys, "own.pub"), filepath.Join(keys, "other.pub")
}

// checkSignatures runs the commands of the page about the verification. Each command of cosign fails with another key,
// and the commands for files fail after a change.
func checkSignatures(t *testing.T, out string) {
	d, public, stranger := publish(t, out)
	changed := download{t.TempDir(), d.registry}
	if err := os.CopyFS(changed.folder, os.DirFS(d.folder)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"checksums.txt", "install.yaml"} {
		path := filepath.Join(changed.folder, file)
		write(t, path, append(read(t, path), ' '))
	}
	var verified []string
	page := read(t, filepath.Join(worktree.Root(), "docs/how-to/verify-release.md"))
	for _, block := range docs.Parse(string(page)).Blocks {
		for _, command := range block.Commands {
			line := strings.NewReplacer("ghcr.io/", d.registry+"/").Replace(command.Text)
			program, _, _ := strings.Cut(line, " ")
			if !slices.Contains([]string{"cosign", "sed"}, program) {
				continue // of the workflow, or of a build
			}
			line = `signer="--key $PUBLIC --insecure-ignore-tlog" repository=llamastack/llama-stack-k8s-operator; ` + line
			if printed, err := d.run(t, line, "PUBLIC="+public); err != nil {
				t.Errorf("%s: %v\n%s", line, err, printed)
			}
			if _, err := d.run(t, line, "PUBLIC="+stranger); err == nil && program == "cosign" {
				t.Errorf("with another key, no error: %s", line)
			}
			if _, err := changed.run(t, line, "PUBLIC="+public); err == nil && !strings.Contains(line, d.registry) {
				t.Errorf("after a change, no error: %s", line)
			}
			verified = append(verified, command.Text)
		}
	}
	if len(verified) < 5 {
		t.Errorf("the page verifies only with %q", verified)
	}
	checkPulled(t, d)
}

// checkPulled checks that helm pulls the chart of the release from the registry.
func checkPulled(t *testing.T, d download) {
	t.Helper()
	chart := "llama-stack-k8s-operator-" + strings.TrimPrefix(version, "v") + ".tgz"
	line := "mkdir pulled; helm pull --plain-http oci://" + d.registry +
		"/llamastack/charts/llama-stack-k8s-operator --version " + strings.TrimPrefix(version, "v") +
		" --destination pulled; cmp pulled/" + chart + " " + chart
	if printed, err := d.run(t, line); err != nil {
		t.Errorf("%s: %v\n%s", line, err, printed)
	}
}
