//go:build release

package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

const (
	version   = "v0.1.0"
	downloads = "https://github.com/llamastack/llama-stack-k8s-operator/releases/download/"
)

// platforms returns the platforms of the image: those of .ko.yaml, or those that the environment sets for a short test.
func platforms(t *testing.T) []string {
	t.Helper()
	if set := os.Getenv("KO_DEFAULTPLATFORMS"); set != "" {
		return strings.Split(set, ",")
	}
	return []string{"linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x"}
}

// base pushes an index with an empty image for each platform to a registry on this machine. It replaces the base image
// of .ko.yaml, which the test cannot reach.
func base(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	var index v1.ImageIndex = empty.Index
	for _, each := range platforms(t) {
		platform, err := v1.ParsePlatform(each)
		if err != nil {
			t.Fatal(err)
		}
		image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
			OS: platform.OS, Architecture: platform.Architecture, Config: v1.Config{User: "65532:65532"},
			RootFS: v1.RootFS{Type: "layers"},
		})
		if err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	reference, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/base@" + digest.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(reference, index, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
	return reference.String()
}

// clone returns a clone of a repository, which uses the built tools of this work tree.
func clone(t *testing.T, from string) string {
	t.Helper()
	checkout := filepath.Join(t.TempDir(), "checkout")
	git(t, from, "clone", "--quiet", "--shared", ".", checkout)
	if err := os.Mkdir(filepath.Join(checkout, ".cache"), 0o750); err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(worktree.Root(), ".cache/bin")
	if err := os.Symlink(tools, filepath.Join(checkout, ".cache/bin")); err != nil {
		t.Fatal(err)
	}
	return checkout
}

// run makes a release of a checkout, and returns its folder.
func run(ctx context.Context, t *testing.T, checkout, from string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "release")
	command := script(ctx, checkout, version, out)
	command.Env = append(os.Environ(), "KO_DEFAULTBASEIMAGE="+from, "KOCACHE="+t.TempDir())
	printed, err := command.CombinedOutput()
	t.Logf("%s", printed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sums returns the SHA-256 of each file in a folder.
func sums(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := filepath.Rel(folder, path)
		found[file] = fmt.Sprintf("%x", sha256.Sum256(read(t, path)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Two checkouts of one commit yield the same files.
func TestRelease(t *testing.T) {
	changed := clone(t, worktree.Root())
	changelog := read(t, filepath.Join(changed, "CHANGELOG.md"))
	changelog = bytes.Replace(changelog, []byte("## [Unreleased]"), []byte("## [0.1.0] - 2026-01-02"), 1)
	write(t, filepath.Join(changed, "CHANGELOG.md"), changelog)
	git(t, changed, "commit", "--quiet", "--all", "--message=test")

	from := base(t)
	first, second := run(t.Context(), t, changed, from), run(t.Context(), t, clone(t, changed), from)
	found := sums(t, first)
	if diff := cmp.Diff(found, sums(t, second)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	t.Run("checksums", func(t *testing.T) { checkSums(t, first, found) })
	digest := checkImage(t, first)
	t.Run("manifests", func(t *testing.T) { checkManifests(t, first, digest) })
	t.Run("chart", func(t *testing.T) { checkChart(t, first, digest) })
	t.Run("CLI", func(t *testing.T) { checkCLI(t, first) })
	t.Run("SBOMs", func(t *testing.T) { checkSBOMs(t, first) })
	if kept := os.Getenv("RELEASE_FOLDER"); kept != "" { // for TestInstallation
		if err := os.CopyFS(kept, os.DirFS(first)); err != nil {
			t.Fatal(err)
		}
	}
}

func checkSums(t *testing.T, out string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for line := range strings.Lines(string(read(t, filepath.Join(out, "checksums.txt")))) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		got[file] = sum
	}
	delete(want, "checksums.txt")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checksums.txt (-files +lines):\n%s", diff)
	}
}

// checkImage returns the digest of the image: of the index, or of the only image if there is one platform.
func checkImage(t *testing.T, out string) string {
	t.Helper()
	path, err := layout.FromPath(filepath.Join(out, "image"))
	if err != nil {
		t.Fatal(err)
	}
	index, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has %v, want one image (error %v)", manifest, err)
	}
	digest := manifest.Manifests[0].Digest
	if len(platforms(t)) > 1 {
		if index, err = index.ImageIndex(digest); err != nil {
			t.Fatal(err)
		}
		if manifest, err = index.IndexManifest(); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, each := range manifest.Manifests {
		image, err := index.Image(each.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, config.OS+"/"+config.Architecture)
		if labels := config.Config.Labels; config.Config.User != "65532:65532" ||
			!slices.Equal(config.Config.Entrypoint, []string{"/ko-app/manager"}) ||
			labels["org.opencontainers.image.version"] != version || labels["org.opencontainers.image.revision"] == "" {
			t.Errorf("%s has the configuration %+v", got, config.Config)
		}
	}
	if diff := cmp.Diff(platforms(t), got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
	return digest.String()
}

var anImage = regexp.MustCompile(`(?m)^ +(?:- )?image: (\S+)$`)

func checkManifests(t *testing.T, out, digest string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "install*.yaml"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d manifests, error %v", len(files), err)
	}
	want := "ghcr.io/llamastack/llama-stack-k8s-operator@" + digest
	for _, file := range append(files, filepath.Join(out, "crds.yaml")) {
		text := string(read(t, file))
		if !strings.Contains(text, "app.kubernetes.io/version: "+version) {
			t.Errorf("%s does not state the version", filepath.Base(file))
		}
		for _, match := range anImage.FindAllStringSubmatch(text, -1) {
			if match[1] != want {
				t.Errorf("%s runs %s, want %s", filepath.Base(file), match[1], want)
			}
		}
	}
	if list := string(read(t, filepath.Join(out, "images.txt"))); !strings.Contains(list, "\n"+want+"\n") {
		t.Errorf("images.txt does not list %s", want)
	}
}

func checkChart(t *testing.T, out, digest string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(worktree.Root(), ".cache/bin/helm"), "template", "test",
		filepath.Join(out, "llama-stack-k8s-operator-0.1.0.tgz"))
	rendered, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, rendered)
	}
	for _, want := range []string{
		"image: ghcr.io/llamastack/llama-stack-k8s-operator@" + digest, `app.kubernetes.io/version: "` + version + `"`,
	} {
		if !strings.Contains(strings.ReplaceAll(string(rendered), `image: "`, `image: `), want) {
			t.Errorf("the chart does not render %q", want)
		}
	}
}

// checkSBOMs checks that there is an SBOM for the index and for each platform, and that those of the platforms list the
// modules of the program.
func checkSBOMs(t *testing.T, out string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "sbom", "*.spdx.json"))
	want := len(platforms(t))
	if want > 1 {
		want++ // the SBOM of the index
	}
	if err != nil || len(files) != want {
		t.Fatalf("the SBOMs are %v, error %v", files, err)
	}
	for _, file := range files {
		var document struct {
			SPDXVersion string `json:"spdxVersion"`
			Packages    []struct{ Name string }
		}
		if err := json.Unmarshal(read(t, file), &document); err != nil {
			t.Fatal(err)
		}
		listed := strings.Contains(string(read(t, file)), "k8s.io/api")
		if document.SPDXVersion != "SPDX-2.3" || listed == strings.Contains(file, "index") {
			t.Errorf("%s has the version %q and %d packages", filepath.Base(file), document.SPDXVersion, len(document.Packages))
		}
	}
}

// checkCLI checks that krew can install each archive of its manifest.
func checkCLI(t *testing.T, out string) {
	t.Helper()
	var manifest struct {
		Kind string
		Spec struct {
			Version   string
			Platforms []struct {
				Selector         metav1.LabelSelector
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.Unmarshal(read(t, filepath.Join(out, "cli/llamastack.yaml")), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Kind != "Plugin" || manifest.Spec.Version != version {
		t.Errorf("the manifest of krew has the kind %q and the version %q", manifest.Kind, manifest.Spec.Version)
	}
	var got []string
	for _, each := range manifest.Spec.Platforms {
		system, arch := each.Selector.MatchLabels["os"], each.Selector.MatchLabels["arch"]
		got = append(got, system+"/"+arch)
		archive := "kubectl-llamastack-" + system + "-" + arch + ".tar.gz"
		if want := downloads + version + "/" + archive; each.URI != want {
			t.Errorf("krew downloads %s, want %s", each.URI, want)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(read(t, filepath.Join(out, "cli", archive)))); sum != each.SHA256 {
			t.Errorf("%s has the checksum %s, but krew expects %s", archive, sum, each.SHA256)
		}
		packed := members(t, filepath.Join(out, "cli", archive))
		for _, want := range []string{each.Bin, "LICENSE", "man/kubectl-llamastack.1", "completions/bash"} {
			if !slices.Contains(packed, want) {
				t.Errorf("%s does not contain %s", archive, want)
			}
		}
	}
	want := []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
	if set := os.Getenv("CLI_RELEASE_PLATFORMS"); set != "" {
		want = strings.Fields(set)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func members(t *testing.T, archive string) []string {
	t.Helper()
	listed, err := exec.CommandContext(t.Context(), "tar", "-tzf", archive).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(listed))
}
