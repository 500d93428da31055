package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// contents returns the files of a layer: their mode, owner and path, and the targets of links.
func contents(t *testing.T, layer v1.Layer) []string {
	t.Helper()
	content, err := layer.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	return list(t, content)
}

func list(t *testing.T, content io.Reader) []string {
	t.Helper()
	var found []string
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.IsZero() && header.ModTime.Unix() != 0 {
			t.Errorf("%s: time %v", header.Name, header.ModTime)
		}
		line := fmt.Sprintf("%04o %d:%d %s", header.Mode, header.Uid, header.Gid, header.Name)
		if header.Linkname != "" {
			line += " -> " + header.Linkname
		}
		found = append(found, line)
	}
}

func write(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// checkDigest compares the digest of a layer with the contents of the layer.
func checkDigest(t *testing.T, layer v1.Layer) {
	t.Helper()
	content, err := layer.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	got, size, err := v1.SHA256(content)
	if err != nil {
		t.Fatal(err)
	}
	digest, _ := layer.Digest()
	uncompressed, _ := layer.DiffID()
	told, _ := layer.Size()
	if got != digest || got != uncompressed || size != told {
		t.Errorf("digest %s and %s, %d bytes; want %s, %d", digest, uncompressed, told, got, size)
	}
}

func TestLayer(t *testing.T) {
	source := t.TempDir()
	write(t, filepath.Join(source, "bin", "run"), "program", 0o700)
	write(t, filepath.Join(source, "lib", "data"), "data", 0o600)
	write(t, filepath.Join(source, "lib", "tests", "data"), "not taken", 0o600)
	if err := os.Symlink("run", filepath.Join(source, "bin", "other")); err != nil {
		t.Fatal(err)
	}
	entries := []Entry{
		Directory{Path: "/tmp", Mode: fs.ModeSticky | 0o777},
		Directory{Path: "/home/stack", Mode: 0o775, UID: 1001},
		Content{Path: "/etc/passwd", Mode: 0o644, Content: []byte("one")},
		Content{Path: "/etc/passwd", Mode: 0o644, Content: []byte("another")},
		Tree{Source: source, Path: "/opt/it", Omit: func(path string) bool { return strings.HasSuffix(path, "/tests") }},
		File{Source: filepath.Join(source, "bin", "other"), Path: "/bin/it", Mode: 0o755},
	}
	var layers [2]v1.Layer
	for i := range layers {
		var err error
		if layers[i], err = NewLayer(t.TempDir(), entries...); err != nil {
			t.Fatal(err)
		}
		checkDigest(t, layers[i])
	}
	want := []string{
		"1777 0:0 tmp/", "0755 0:0 home/", "0775 1001:0 home/stack/", "0755 0:0 etc/", "0644 0:0 etc/passwd",
		"0755 0:0 opt/", "0755 0:0 opt/it/", "0755 0:0 opt/it/bin/", "0777 0:0 opt/it/bin/other -> run",
		"0755 0:0 opt/it/bin/run",
		"0755 0:0 opt/it/lib/", "0644 0:0 opt/it/lib/data", "0755 0:0 bin/", "0755 0:0 bin/it",
	}
	if diff := cmp.Diff(want, contents(t, layers[0])); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if one, another := layers[0].(*layer).digest, layers[1].(*layer).digest; one != another {
		t.Errorf("two layers of the same files: %s and %s", one, another)
	}
}

func TestLayerOfMissingFile(t *testing.T) {
	for name, entry := range map[string]Entry{
		"file": File{Source: "/nowhere/file", Path: "/file"},
		"tree": Tree{Source: "/nowhere/tree", Path: "/tree"},
	} {
		if _, err := NewLayer(t.TempDir(), entry); !errors.Is(err, fs.ErrNotExist) ||
			!strings.Contains(err.Error(), "/nowhere/"+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// startRegistry starts a registry that serves plain HTTP.
func startRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return strings.TrimPrefix(server.URL, "http://")
}

// pull pulls an image as a node does.
func pull(t *testing.T, published Published) (v1.Image, *v1.ConfigFile) {
	t.Helper()
	reference, err := name.ParseReference(published.Reference, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(reference)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers {
		checkDigest(t, layer)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return image, config
}

// files returns the files of a whole image.
func files(t *testing.T, image v1.Image) []string {
	t.Helper()
	flat := mutate.Extract(image)
	defer flat.Close()
	return list(t, flat)
}

func TestOperator(t *testing.T) {
	published, err := Publish(t.Context(), startRegistry(t), "v1.2.3", "operator")
	if err != nil {
		t.Fatal(err)
	}
	image, config := pull(t, published["operator"])
	dockerfile, err := os.ReadFile(filepath.Join(worktree.Root(), "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("\nUSER %s\n", config.Config.User),
		fmt.Sprintf("\nENTRYPOINT [%q]\n", config.Config.Entrypoint[0]),
		`go build -trimpath -ldflags "-s -w -X main.version=`,
		fmt.Sprintf("org.opencontainers.image.title=%q", config.Config.Labels["org.opencontainers.image.title"]),
	} {
		if !strings.Contains(string(dockerfile), want) {
			t.Errorf("the Dockerfile does not contain %q", want)
		}
	}
	want := []string{
		"0755 0:0 manager", "0755 0:0 etc", "0644 0:0 etc/passwd", "0644 0:0 etc/group", "1777 0:0 tmp", "0755 0:0 home",
		"0775 65532:65532 home/nonroot", "0755 0:0 etc/ssl", "0755 0:0 etc/ssl/certs", "0644 0:0 etc/ssl/certs/ca-certificates.crt",
	}
	if diff := cmp.Diff(want, files(t, image)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestStandIns(t *testing.T) {
	published, err := Publish(t.Context(), startRegistry(t), "", "standin@0.7.3", "standin@1.5.0")
	if err != nil {
		t.Fatal(err)
	}
	var shared []v1.Layer
	for _, release := range []string{"0.7.3", "1.5.0"} {
		image, config := pull(t, published["standin@"+release])
		if got := config.Config; !slices.Equal(got.Entrypoint, []string{"/standin"}) || got.User != "1001:0" ||
			!slices.Contains(got.Env, "STANDIN_VERSION="+release) || got.Labels["io.llamastack.server.version"] != release {
			t.Errorf("%s: configuration %+v", release, got)
		}
		found := files(t, image)
		for _, want := range []string{
			"0755 0:0 standin", "0755 0:0 bin/sh", "0755 0:0 bin/mkdir", "0755 0:0 bin/df",
			"0644 0:0 app/config.yaml",
		} {
			if !slices.Contains(found, want) {
				t.Errorf("%s: no %q in %q", release, want, found)
			}
		}
		layers, err := image.Layers()
		if err != nil {
			t.Fatal(err)
		}
		shared = append(shared, layers[0])
	}
	one, _ := shared[0].Digest()
	another, _ := shared[1].Digest()
	if one != another {
		t.Errorf("the programs are in the layers %s and %s, want them in the same layer", one, another)
	}
}

func TestPublishRefuses(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tc := range []struct {
		ctx          context.Context
		wanted, want string
	}{
		{t.Context(), "server", `publish "server": want operator, databases, standin@<release> or server@<release>`},
		{t.Context(), "standin@9.9", "find the configuration of the stand-in"},
		{t.Context(), "server@9.9", "find the release of the server image"},
		{ended, "operator", "build ./cmd/manager: context canceled"},
	} {
		if _, err := Publish(tc.ctx, startRegistry(t), "", tc.wanted); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q in it", tc.wanted, err, tc.want)
		}
	}
}

func TestLibraryIn(t *testing.T) {
	for line, want := range map[string]string{
		"\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)": "/lib/x86_64-linux-gnu/libc.so.6",
		"\t/lib64/ld-linux-x86-64.so.2 (0x00007f)":                  "/lib64/ld-linux-x86-64.so.2",
		"\tlinux-vdso.so.1 (0x00007f)":                              "",
		"\tlibmissing.so.1 => not found":                            "",
		"/some/module.so:":                                          "",
		"\tstatically linked":                                       "",
	} {
		if got := libraryIn(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
