//go:build release

package release

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
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
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

const (
	version   = "v0.10.0"
	downloads = "https://github.com/llamastack/llama-stack-k8s-operator/releases/download/"
)

// platforms returns the platforms that the environment sets for a short test, or the given platforms of a release.
func platforms(all ...string) []string {
	if set := os.Getenv("PLATFORMS"); set != "" {
		return strings.Split(set, ",")
	}
	return all
}

func imagePlatforms() []string {
	return platforms("linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x")
}

func fipsPlatforms() []string { return platforms("linux/amd64", "linux/arm64") }

// base pushes an index with an empty image for each platform to a registry on this machine. It replaces the base image
// of .ko.yaml, which the test cannot reach.
func base(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	var index v1.ImageIndex = empty.Index
	for _, each := range imagePlatforms() {
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
	changelog = bytes.Replace(changelog, []byte("## [Unreleased]"), []byte("## [0.10.0] - 2026-01-02"), 1)
	write(t, filepath.Join(changed, "CHANGELOG.md"), changelog)
	git(t, changed, "commit", "--quiet", "--all", "--message=test")

	from := base(t)
	first := run(t.Context(), t, changed, from)
	found := sums(t, first)
	if diff := cmp.Diff(found, sums(t, run(t.Context(), t, clone(t, changed), from))); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	t.Run("checksums", func(t *testing.T) { checkSums(t, first, found) })
	images, digests := built(t, first)
	t.Run("image", func(t *testing.T) { checkImage(t, images[0], imagePlatforms(), "") })
	t.Run("FIPS variant", func(t *testing.T) { checkImage(t, images[1], fipsPlatforms(), "v1.0.0-") })
	t.Run("manifests", func(t *testing.T) { checkManifests(t, first, digests[0]) })
	t.Run("chart", func(t *testing.T) { checkChart(t, first, digests[0]) })
	t.Run("CLI", func(t *testing.T) { checkCLI(t, first) })
	t.Run("SBOMs", func(t *testing.T) { checkSBOMs(t, first) })
	t.Run("OLM", func(t *testing.T) { checkOLM(t, first, digests[0]) })
	t.Run("signatures", func(t *testing.T) { checkSignatures(t, first) })
	if kept := os.Getenv("RELEASE_FOLDER"); kept != "" { // for the tests in hack/tools/release, and for TestInstallation
		if err := os.CopyFS(kept, os.DirFS(first)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkSums checks the checksums of all files but those that are made from them.
func checkSums(t *testing.T, out string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for line := range strings.Lines(string(read(t, filepath.Join(out, "checksums.txt")))) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		got[file] = sum
	}
	want = maps.Clone(want)
	delete(want, "checksums.txt")
	delete(want, "provenance.json")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checksums.txt (-files +lines):\n%s", diff)
	}
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
		filepath.Join(out, "llama-stack-k8s-operator-0.10.0.tgz"))
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

// checkOLM checks that the bundle and the catalog name the image of the operator by its digest.
func checkOLM(t *testing.T, out, digest string) {
	t.Helper()
	image := "image: ghcr.io/llamastack/llama-stack-k8s-operator@" + digest
	for file, want := range map[string]string{
		"bundle/manifests/llama-stack-k8s-operator." + version + ".clusterserviceversion.yaml": image,
		"catalog/llama-stack-k8s-operator/catalog.yaml":                                        image,
		"bundle.Dockerfile": "FROM scratch", "catalog.Dockerfile": "FROM scratch",
	} {
		printed, err := exec.CommandContext(t.Context(), "tar", "-xzOf", filepath.Join(out, "olm.tar.gz"), file).Output()
		if err != nil || !strings.Contains(string(printed), want) {
			t.Errorf("%s does not contain %q (error %v)", file, want, err)
		}
	}
}

// checkSBOMs checks that each image and each archive has an SBOM.
func checkSBOMs(t *testing.T, out string) {
	t.Helper()
	var want, got []string
	for prefix, platforms := range map[string][]string{"manager-": imagePlatforms(), "fips-manager-": fipsPlatforms()} {
		for _, each := range platforms {
			want = append(want, prefix+strings.ReplaceAll(each, "/", "-"))
		}
		if len(platforms) > 1 {
			want = append(want, prefix+"index")
		}
	}
	archives, err := filepath.Glob(filepath.Join(out, "cli", "*.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range archives {
		want = append(want, strings.TrimSuffix(filepath.Base(each), ".tar.gz"))
	}
	files, err := filepath.Glob(filepath.Join(out, "sbom", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range files {
		got = append(got, strings.TrimSuffix(filepath.Base(each), ".spdx.json"))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("SBOMs (-want +got):\n%s", diff)
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
		if system == "linux" {
			checkArchive(t, filepath.Join(out, "cli", archive), arch, "")
			checkArchive(t, filepath.Join(out, "cli", "kubectl-llamastack-fips-"+system+"-"+arch+".tar.gz"), arch, "v1.0.0-")
		}
		packed := members(t, filepath.Join(out, "cli", archive))
		for _, want := range []string{
			each.Bin, "LICENSE", "man/kubectl-llamastack.1", "completions/bash", "completions/kubectl_complete-llamastack",
		} {
			if !slices.Contains(packed, want) {
				t.Errorf("%s does not contain %s", archive, want)
			}
		}
	}
	want := platforms("linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

// checkArchive starts the program of an archive for Linux.
func checkArchive(t *testing.T, archive, arch, fips string) {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(read(t, archive)))
	if err != nil {
		t.Fatal(err)
	}
	checkProgram(t, extracted(t, unpacked, "kubectl-llamastack"), arch, fips, "version")
}

func members(t *testing.T, archive string) []string {
	t.Helper()
	listed, err := exec.CommandContext(t.Context(), "tar", "-tzf", archive).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(listed))
}
