package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/bundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

func TestSelection(t *testing.T) {
	const starter = "docker.io/ogxai/distribution-starter:"
	for _, tc := range []struct {
		servers []string
		want    []selected
		err     string
	}{
		{[]string{"starter"}, []selected{{"op:1", "oci:op", true}, {starter + "0.7.1", starter + "0.7.1", false}}, ""},
		{[]string{"starter@0.7.3=registry.example.com/s:1", "starter@0.7.3=registry.example.com/s:1"}, []selected{
			{"op:1", "oci:op", true}, {starter + "0.7.3", "registry.example.com/s:1", false},
		}, ""},
		{[]string{"quay.io/a/b:1"}, []selected{{"op:1", "oci:op", true}, {"quay.io/a/b:1", "quay.io/a/b:1", false}}, ""},
		{[]string{"starter@0.7.3=oci:a", "starter@0.7.3"}, nil, "from two sources"},
		{[]string{"startre"}, nil, `unknown distribution "startre"`},
		{[]string{"starter@9.9.9"}, nil, "has no version"},
		{[]string{"quay.io/A/b:1"}, nil, "not an image name"},
	} {
		got, err := selection("op:1=oci:op", tc.servers)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%v: error %v does not contain %q", tc.servers, err, tc.err)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(selected{})); diff != "" || err != nil {
			t.Errorf("%v: %v (-want +got):\n%s", tc.servers, err, diff)
		}
	}
	if found, err := selection("op:1", []string{all}); err != nil || len(found) < 50 {
		t.Errorf("all selects %d images, %v", len(found), err)
	}
}

// serve starts a registry with an index for two platforms, and writes an OCI layout with an operator image. It returns
// the references to the index and to the operator image.
func serve(t *testing.T) (index, operator string) {
	t.Helper()
	served := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(served.Close)
	host := strings.TrimPrefix(served.URL, "http://")
	both := mutate.IndexMediaType(twoPlatforms(t), "application/vnd.oci.image.index.v1+json")
	ref, err := name.ParseReference(host + "/server:1")
	testutil.Must(t, err)
	testutil.Must(t, remote.WriteIndex(ref, both))
	image, err := random.Image(1000, 1)
	testutil.Must(t, err)
	folder := t.TempDir()
	path, err := layout.Write(folder, twoPlatforms(t))
	if err == nil {
		err = path.AppendImage(image, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "dev"}))
	}
	testutil.Must(t, err)
	return ref.Name(), "oci:" + folder + ":dev"
}

func twoPlatforms(t *testing.T) v1.ImageIndex {
	t.Helper()
	index, err := random.Index(1000, 1, 0)
	testutil.Must(t, err)
	for _, architecture := range []string{"amd64", "arm64"} {
		image, err := random.Image(1000, 2)
		testutil.Must(t, err)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	return index
}

// A bundle of images from a registry and a layout contains either the whole index or the image for one platform, and
// the files from the work tree.
func TestRun(t *testing.T) {
	server, operator := serve(t)
	for _, platform := range []string{"", "linux/arm64"} {
		t.Run(platform, func(t *testing.T) { bundleOf(t, server, operator, platform) })
	}
}

func bundleOf(t *testing.T, server, operator, platform string) {
	t.Helper()
	folder := t.TempDir()
	output := filepath.Join(folder, "bundle.tar")
	var stderr bytes.Buffer
	args := []string{
		"-output", output, "-cache", filepath.Join(folder, "cache"), "-tree", worktree.Root(), "-operator",
		"llama-stack-k8s-operator:dev=" + operator,
		"-platform", platform, "starter=" + server,
	}
	if err := run(t.Context(), args, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	first, err := os.ReadFile(output)
	testutil.Must(t, err)
	testutil.Must(t, run(t.Context(), args, &stderr))
	if again, err := os.ReadFile(output); err != nil || !bytes.Equal(first, again) {
		t.Errorf("a second bundle of the same content has different bytes (%v)", err)
	}
	sum, err := os.ReadFile(output + ".sha256")
	if want := fmt.Sprintf("%x  bundle.tar\n", sha256.Sum256(first)); err != nil || string(sum) != want {
		t.Errorf("checksum %q, %v, want %q", sum, err, want)
	}
	opened, err := bundle.Open(output)
	testutil.Must(t, err)
	defer opened.Close()
	if len(opened.Images) != 2 || opened.Images[0].Descriptor.MediaType.IsIndex() != (platform == "") ||
		!opened.Images[1].Operator {
		t.Errorf("platform %q: images %+v", platform, opened.Images)
	}
	for _, file := range []string{"images.txt", "manifests/install.yaml", "chart/llama-stack-k8s-operator/Chart.yaml", "samples/v1alpha2-simple.yaml", "SHA256SUMS"} {
		content, err := opened.Read(file, 4<<20)
		if err != nil || len(content) == 0 || strings.Contains(string(content), "yaml-language-server") {
			t.Errorf("%s: error %v, or the file refers to a schema, which is not in the bundle", file, err)
		}
	}
	if text, err := opened.Read(bundle.Readme, 1<<20); err != nil ||
		!strings.Contains(string(text), "distribution-starter:0.7.1@sha256:") {
		t.Errorf("read me: %s, %v", text, err)
	}
}

// The error names each unavailable image. The command fails unless missing images are allowed.
func TestMissing(t *testing.T) {
	server, operator := serve(t)
	output := filepath.Join(t.TempDir(), "bundle.tar")
	var stderr bytes.Buffer
	args := []string{
		"-output", output, "-cache", t.TempDir(), "-tree", worktree.Root(),
		"-operator", "llama-stack-k8s-operator:dev=" + operator,
		"starter=" + server, "starter@0.7.3=" + strings.Replace(server, "server:1", "server:2", 1),
		"starter@0.6.1=oci:" + t.TempDir(),
	}
	err := run(t.Context(), args, &stderr)
	want := "2 of 4 images cannot be pulled: docker.io/ogxai/distribution-starter:0.7.3, docker.io/ogxai/distribution-starter:0.6.1"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v does not contain %q", err, want)
	}
	if _, err := os.Stat(output); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the command wrote a bundle: %v", err)
	}
	testutil.Must(t, run(t.Context(), append([]string{"-allow-missing"}, args...), &stderr))
	opened, err := bundle.Open(output)
	testutil.Must(t, err)
	defer opened.Close()
	text, err := opened.Read(bundle.Readme, 1<<20)
	if err != nil || len(opened.Images) != 2 || !strings.Contains(string(text), "not in the archive:\n\n    docker.io/ogxai/distribution-starter:0.7.3\n") {
		t.Errorf("%d images, read me: %s, %v", len(opened.Images), text, err)
	}
	if err := run(t.Context(), []string{"-output", output}, &stderr); err == nil || !strings.Contains(err.Error(), "set -output and -operator") {
		t.Errorf("error %v", err)
	}
}
