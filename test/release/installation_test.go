//go:build release && node

package release

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
	docs "github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

const (
	charts          = "oci://ghcr.io/llamastack/charts"
	installPage     = "docs/how-to/install.md"
	commandLinePage = "docs/how-to/use-the-cli.md"
	uninstallPage   = "docs/how-to/uninstall.md"
)

// installation runs the commands of the pages on a node, with the files of a release in place of its addresses.
type installation struct {
	t        *testing.T
	folder   string // the files of the release
	version  string
	registry string
	pages    string // the pages of the release
	path     string // $PATH
	krew     string
}

// The commands on the pages install the operator from a release: from its manifest, unchanged, and from its chart. The
// node pulls the image of the release by its digest. A stack becomes ready. The command line, which krew installs from
// its archive, states that all versions fit.
func TestInstallation(t *testing.T) {
	i := newInstallation(t)
	i.publish()
	i.run(i.command(commandLinePage, "kubectl krew install"))

	i.run(i.command(installPage, "kubectl apply --server-side"))
	i.works()
	i.run("kubectl delete llsd --all --wait")
	i.run(i.command(uninstallPage, "kubectl delete --ignore-not-found"))

	i.run(i.command(installPage, "helm install"))
	i.run(i.command(installPage, "kubectl label namespace"))
	i.works()
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	i := &installation{
		t: t, folder: os.Getenv("RELEASE_FOLDER"), registry: os.Getenv("CLUSTER_REGISTRY"), krew: t.TempDir(),
	}
	if i.folder == "" || i.registry == "" {
		t.Fatal("$RELEASE_FOLDER or $CLUSTER_REGISTRY is not set: run `make test-release`")
	}
	packed, err := filepath.Glob(filepath.Join(i.folder, "llama-stack-k8s-operator-*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("the release has the charts %q, want one (error %v)", packed, err)
	}
	number := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(packed[0]), "llama-stack-k8s-operator-"), ".tgz")
	i.version, i.pages = "v"+number, t.TempDir()
	root := worktree.Root()
	if err := os.CopyFS(filepath.Join(i.pages, "docs"), os.DirFS(filepath.Join(root, "docs"))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(i.pages, "README.md"), read(t, filepath.Join(root, "README.md")))
	write(t, filepath.Join(i.pages, "CHANGELOG.md"), []byte("## ["+number+"]\n"))
	programs := t.TempDir()
	for program, link := range map[string]string{"helm": "helm", "krew": "kubectl-krew"} {
		if err := os.Symlink(filepath.Join(root, ".cache/bin", program), filepath.Join(programs, link)); err != nil {
			t.Fatal(err)
		}
	}
	i.path = strings.Join([]string{filepath.Join(i.krew, "bin"), programs, os.Getenv("PATH")}, ":")
	i.run("go run ./hack/installation " + i.pages)
	return i
}

// run runs a shell command and returns its standard output.
func (i *installation) run(line string) string {
	i.t.Helper()
	var stderr strings.Builder
	command := exec.CommandContext(i.t.Context(), "bash", "-euo", "pipefail", "-c", line)
	command.Dir, command.Stderr = worktree.Root(), &stderr
	command.Env = append(os.Environ(), "PATH="+i.path, "KREW_ROOT="+i.krew, "KREW_NO_UPGRADE_CHECK=1")
	printed, err := command.Output()
	i.t.Logf("$ %s\n%s%s", line, printed, stderr.String())
	if err != nil {
		i.t.Fatalf("%s: %v", line, err)
	}
	return string(printed)
}

// command returns the first command on a page that begins with a text, with the files of the release in place of
// addresses.
func (i *installation) command(page, begin string) string {
	i.t.Helper()
	for _, block := range docs.Parse(string(read(i.t, filepath.Join(i.pages, page)))).Blocks {
		for _, command := range block.Commands {
			if !strings.HasPrefix(command.Text, begin) {
				continue
			}
			archive := filepath.Join(i.folder, "cli/kubectl-llamastack-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz")
			line := strings.NewReplacer(
				"--manifest-url="+downloads+i.version+"/", "--archive="+archive+" --manifest="+i.folder+"/cli/",
				downloads+i.version, i.folder,
				charts, "--plain-http oci://"+i.registry+"/llamastack/charts",
			).Replace(command.Text)
			if strings.Contains(line, "://") && !strings.Contains(line, i.registry) {
				i.t.Errorf("the command needs the internet: %s", line)
			}
			return line
		}
	}
	i.t.Fatalf("%s has no command %q", page, begin)
	return ""
}

// publish pushes the image, the chart and a stand-in for the server to the registry of the node, under the names that
// they have on the internet. It makes the node pull all images from this registry.
func (i *installation) publish() {
	i.t.Helper()
	if err := os.MkdirAll(i.mirror(), 0o700); err != nil {
		i.t.Fatal(err)
	}
	write(i.t, filepath.Join(i.mirror(), "hosts.toml"), fmt.Appendf(nil,
		"server = \"http://%[1]s\"\n\n[host.\"http://%[1]s\"]\ncapabilities = [\"pull\", \"resolve\"]\n", i.registry))
	i.pushImage()
	i.run("helm push --plain-http " + i.folder + "/llama-stack-k8s-operator-*.tgz oci://" + i.registry +
		"/llamastack/charts")
	server, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		i.t.Fatal(err)
	}
	_, tag, _ := strings.Cut(filepath.Base(server.Image), ":")
	images, err := image.StandIns(i.t.Context(), i.t.TempDir(), tag)
	if err != nil {
		i.t.Fatal(err)
	}
	public := i.registry + "/" + strings.TrimPrefix(server.Image, "docker.io/")
	if err := image.Push(i.t.Context(), public, images[tag]); err != nil {
		i.t.Fatal(err)
	}
}

// mirror returns the folder of containerd's settings for all registries.
func (i *installation) mirror() string {
	folder := os.Getenv("CLUSTER_DIR")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(worktree.Root(), folder)
	}
	return filepath.Join(folder, "node/certs.d/_default")
}

// pushImage pushes the image that the manifest names.
func (i *installation) pushImage() {
	i.t.Helper()
	named := anImage.FindStringSubmatch(string(read(i.t, filepath.Join(i.folder, "install.yaml"))))
	if named == nil {
		i.t.Fatal("install.yaml has no image")
	}
	reference, err := name.NewDigest(named[1])
	if err != nil {
		i.t.Fatal(err)
	}
	files, err := layout.FromPath(filepath.Join(i.folder, "image"))
	if err != nil {
		i.t.Fatal(err)
	}
	index, err := files.ImageIndex()
	if err != nil {
		i.t.Fatal(err)
	}
	digest, err := v1.NewHash(reference.DigestStr())
	if err != nil {
		i.t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		i.t.Fatal(err)
	}
	at := slices.IndexFunc(manifest.Manifests, func(d v1.Descriptor) bool { return d.Digest == digest })
	if at < 0 {
		i.t.Fatalf("the release does not contain the image %s", reference)
	}
	target, err := name.ParseReference(i.registry+"/"+reference.RepositoryStr()+"@"+reference.DigestStr(), name.Insecure)
	if err != nil {
		i.t.Fatal(err)
	}
	if manifest.Manifests[at].MediaType.IsIndex() {
		pushed, found := index.ImageIndex(digest)
		if err = found; err == nil {
			err = remote.WriteIndex(target, pushed, remote.WithContext(i.t.Context()))
		}
	} else {
		pushed, found := index.Image(digest)
		if err = found; err == nil {
			err = remote.Write(target, pushed, remote.WithContext(i.t.Context()))
		}
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// works checks that the operator runs, that the stack of the page becomes ready, and that all versions are those of the
// release.
func (i *installation) works() {
	i.t.Helper()
	i.run(i.command(installPage, "kubectl wait --for=condition=Available") + " --timeout=300s")
	for _, block := range docs.Parse(string(read(i.t, filepath.Join(i.pages, installPage)))).Blocks {
		if block.Title == "stack.yaml" {
			write(i.t, filepath.Join(i.pages, block.Title), []byte(block.Text))
		}
	}
	i.run("cd " + i.pages + " && " + i.command(installPage, "kubectl apply -f stack.yaml"))
	i.run(i.command(installPage, "kubectl wait --for=condition=Ready"))
	var found struct {
		Client struct{ Version string }
		Server struct {
			Definition string
			Operators  []struct{ Version string }
			Stacks     []struct{ Version string }
		}
		Skew []string
	}
	if err := json.Unmarshal([]byte(i.run("kubectl llamastack version -o json")), &found); err != nil {
		i.t.Fatal(err)
	}
	versions := []string{found.Client.Version, found.Server.Definition}
	for _, each := range slices.Concat(found.Server.Operators, found.Server.Stacks) {
		versions = append(versions, each.Version)
	}
	if diff := cmp.Diff(slices.Repeat([]string{i.version}, 4), versions); diff != "" || len(found.Skew) > 0 {
		i.t.Errorf("versions of the command, the definition, the operator and the stack (-want +got):\n%s%v", diff, found.Skew)
	}
}
