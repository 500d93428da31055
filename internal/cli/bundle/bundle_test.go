package bundle_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/bundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	operator = "llama-stack-k8s-operator:dev"
	server   = "docker.io/ogxai/distribution-starter:0.7.1"
	provider = "quay.io/team/provider:1.2"
)

// source returns a layout with an index of two images, and two other images.
func source(t *testing.T) (bundle.Layout, []bundle.Image) {
	t.Helper()
	folder := t.TempDir()
	path := layout.Path(folder)
	describe := func(of partial.Describable, err error) v1.Descriptor {
		t.Helper()
		found, describeErr := partial.Descriptor(of)
		testutil.Must(t, errors.Join(err, describeErr))
		return *found
	}
	index, err := random.Index(2000, 2, 2)
	testutil.Must(t, err)
	images := []bundle.Image{{Reference: server, Descriptor: describe(index, path.WriteIndex(index))}}
	for _, reference := range []string{provider, operator} {
		image, err := random.Image(3000, 3)
		testutil.Must(t, err)
		images = append(images, bundle.Image{
			Reference: reference, Operator: reference == operator, Descriptor: describe(image, path.WriteImage(image)),
		})
	}
	return bundle.Layout(folder), images
}

// archive writes a bundle, and returns its bytes.
func archive(t *testing.T, from bundle.Layout, images []bundle.Image) []byte {
	t.Helper()
	var into bytes.Buffer
	err := bundle.Write(t.Context(), &into, from, images, []bundle.File{
		{Name: bundle.Readme, Content: []byte("read me\n")},
		{Name: "bin/program", Content: []byte("#!/bin/sh\n"), Executable: true},
	})
	testutil.Must(t, err)
	return into.Bytes()
}

// open opens the bytes of a bundle.
func open(t *testing.T, content []byte) (*bundle.Bundle, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bundle.tar")
	testutil.Must(t, os.WriteFile(path, content, 0o600))
	opened, err := bundle.Open(path)
	if err == nil {
		t.Cleanup(func() { _ = opened.Close() })
	}
	return opened, err
}

// target returns a registry. If `before` returns true, it has handled the request in place of the registry.
func target(t *testing.T, before func(http.ResponseWriter, *http.Request) bool) *bundle.Target {
	t.Helper()
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(served.Close)
	return &bundle.Target{
		Prefix: strings.TrimPrefix(served.URL, "http://") + "/mirror", Insecure: true, Transport: http.DefaultTransport,
		Credentials: authn.NewMultiKeychain(),
	}
}

// load loads every image in a bundle.
func load(ctx context.Context, t *testing.T, from *bundle.Bundle, into *bundle.Target) ([]*bundle.Loaded, error) {
	t.Helper()
	places, err := from.Destinations(into)
	if err != nil {
		return nil, err
	}
	var all []*bundle.Loaded
	for i := range from.Images {
		loaded, err := from.Load(ctx, &from.Images[i], places[i], into)
		if err != nil {
			return all, err
		}
		all = append(all, loaded)
	}
	return all, nil
}

// Equal content produces identical archives. Every file except the list of checksums has a checksum, and no file has an
// owner or a modification time.
func TestWriteIsDeterministic(t *testing.T) {
	from, images := source(t)
	content := archive(t, from, images)
	if !bytes.Equal(content, archive(t, from, []bundle.Image{images[2], images[0], images[1]})) {
		t.Error("the order of the images changes the archive")
	}
	var sums, said strings.Builder
	last := ""
	for reader := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		testutil.Must(t, err)
		if !header.ModTime.IsZero() && header.ModTime.Unix() != 0 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s has the time %v and the owner %d %q", header.Name, header.ModTime, header.Uid, header.Uname)
		}
		if executable := header.Mode == 0o755; executable != strings.HasPrefix(header.Name, "bin/") {
			t.Errorf("%s has mode %o", header.Name, header.Mode)
		}
		content, err := io.ReadAll(reader)
		testutil.Must(t, err)
		if last = header.Name; last == bundle.Checksums {
			said.Write(content)
			continue
		}
		sum := sha256.Sum256(content)
		sums.WriteString(hex.EncodeToString(sum[:]) + "  " + header.Name + "\n")
	}
	if last != bundle.Checksums || sums.String() != said.String() {
		t.Errorf("checksums:\n%s\nwant:\n%s", said.String(), sums.String())
	}
}

// The digest of a loaded image or index does not change. A second load sends nothing.
func TestLoad(t *testing.T) {
	from, images := source(t)
	opened, err := open(t, archive(t, from, images))
	testutil.Must(t, err)
	into := target(t, nil)
	for _, again := range []bool{false, true} {
		all, err := load(t.Context(), t, opened, into)
		testutil.Must(t, err)
		got := map[string]string{}
		for _, one := range all {
			got[strings.TrimPrefix(one.To.Name(), into.Prefix+"/")] = one.Image.Reference
			if one.Complete != again || (one.Sent == 0) != again {
				t.Errorf("%s: complete %t, %d bytes sent", one.To, one.Complete, one.Sent)
			}
			if one.Image.Operator != (one.Image.Reference == operator) {
				t.Errorf("%s: operator %t", one.Image.Reference, one.Image.Operator)
			}
			found, err := remote.Head(one.To)
			if err != nil || found.Digest != one.Image.Descriptor.Digest || found.MediaType != one.Image.Descriptor.MediaType {
				t.Errorf("%s: %v, %v, want %s", one.To, found, err, one.Image.Descriptor.Digest)
			}
		}
		want := map[string]string{
			"library/llama-stack-k8s-operator:dev": operator, "ogxai/distribution-starter:0.7.1": server,
			"team/provider:1.2": provider,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("places (-want +got):\n%s", diff)
		}
	}
	reference, err := name.ParseReference(into.Prefix+"/ogxai/distribution-starter:0.7.1", name.Insecure)
	testutil.Must(t, err)
	index, err := remote.Index(reference)
	testutil.Must(t, err)
	manifest, err := index.IndexManifest()
	testutil.Must(t, err)
	for _, one := range manifest.Manifests {
		image, err := index.Image(one.Digest)
		testutil.Must(t, err)
		if _, err := partial.ConfigLayer(image); err != nil {
			t.Errorf("image %s: %v", one.Digest, err)
		}
	}
}

// An interrupted load writes no tag, and the next load sends only the missing content.
func TestLoadContinues(t *testing.T) {
	from, images := source(t)
	opened, err := open(t, archive(t, from, images[:1]))
	testutil.Must(t, err)
	size, err := opened.Size(t.Context(), &opened.Images[0])
	testutil.Must(t, err)
	var left atomic.Int64
	left.Store(3)
	into := target(t, func(w http.ResponseWriter, r *http.Request) bool {
		refused := r.Method == http.MethodPut && left.Add(-1) < 0
		if refused {
			w.WriteHeader(http.StatusForbidden)
		}
		return refused
	})
	if _, err := load(t.Context(), t, opened, into); err == nil {
		t.Fatal("no error from a registry that accepts only three blobs")
	}
	places, err := opened.Destinations(into)
	testutil.Must(t, err)
	if _, err := remote.Head(places[0]); err == nil {
		t.Error("the tag exists, but not all of its content")
	}
	left.Store(1000)
	all, err := load(t.Context(), t, opened, into)
	testutil.Must(t, err)
	if sent := all[0].Sent; sent == 0 || sent > size-2000 {
		t.Errorf("%d of %d bytes were sent, although the registry already had three blobs", sent, size)
	}
}

// Loading a damaged archive returns an error, and writes no tag to the registry.
func TestDamaged(t *testing.T) {
	from, images := source(t)
	content := archive(t, from, images[:1])
	for _, tc := range []struct {
		name   string
		change func(content []byte) []byte
		want   string
	}{
		{
			"not a tar archive", func([]byte) []byte { return []byte("PK\x03\x04" + strings.Repeat("x", 2000)) },
			"not a tar archive",
		},
		{"empty", func([]byte) []byte { return nil }, "the archive does not contain file index.json"},
		{"truncated", func(content []byte) []byte { return content[:len(content)*2/3] }, ""},
		{"a changed blob", func(content []byte) []byte {
			at := bytes.Index(content, []byte("blobs/sha256/"))
			content[at+512+100] ^= 1
			return content
		}, "does not match its digest"},
		{"a missing blob", func(content []byte) []byte {
			return bytes.ReplaceAll(content, []byte("blobs/sha256/"), []byte("blobs/sha257/"))
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opened, err := open(t, tc.change(bytes.Clone(content)))
			into := target(t, nil)
			if err == nil {
				_, err = load(t.Context(), t, opened, into)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v does not contain %q", err, tc.want)
			}
			to, parseErr := name.ParseReference(into.Prefix+"/ogxai/distribution-starter:0.7.1", name.Insecure)
			if parseErr != nil {
				t.Fatal(parseErr)
			}
			if _, err := remote.Head(to); err == nil {
				t.Error("the registry has the tag")
			}
		})
	}
}

func TestDestination(t *testing.T) {
	const digest = "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for reference, want := range map[string]string{
		"redis":                          "r.example.com:5000/m/library/redis:latest",
		"docker.io/redis:7":              "r.example.com:5000/m/library/redis:7",
		"index.docker.io/ogxai/a:1":      "r.example.com:5000/m/ogxai/a:1",
		"localhost:5000/a/b/c:1":         "r.example.com:5000/m/a/b/c:1",
		"quay.io/team/a" + digest:        "r.example.com:5000/m/team/a" + digest,
		"quay.io/team/a:1.2" + digest:    "r.example.com:5000/m/team/a:1.2",
		"quay.io/team/../a:1":            "",
		"quay.io/Team/a:1":               "",
		"registry.example.com:5000/a/b":  "r.example.com:5000/m/a/b:latest",
		"r.example.com:5000/m/ogxai/a:1": "r.example.com:5000/m/m/ogxai/a:1",
	} {
		got, err := bundle.Destination(reference, "r.example.com:5000/m")
		if want == "" && err == nil || want != "" && (err != nil || got.Name() != want) {
			t.Errorf("%q: %v, %v, want %q", reference, got, err, want)
		}
	}
}

func TestCheckPrefix(t *testing.T) {
	for prefix, valid := range map[string]bool{
		"registry.corp": true, "registry.corp:5000/mirror/a": true, "localhost": true, "localhost:5000": true,
		"10.1.2.3:5000": true,
		"":              false, "mirror": false, "https://registry.corp": false, "registry.corp/Mirror": false,
		"registry.corp/":   false,
		"registry.corp//a": false,
	} {
		if err := bundle.CheckPrefix(prefix); (err == nil) != valid {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

// Write rejects two images with the same destination, and two files with the same name.
func TestDuplicateNames(t *testing.T) {
	from, images := source(t)
	images[1].Reference = "quay.io/ogxai/distribution-starter:0.7.1"
	err := bundle.Write(t.Context(), io.Discard, from, images, nil)
	if err == nil || !strings.Contains(err.Error(), "have the same destination") {
		t.Errorf("error %v", err)
	}
	if err := bundle.Write(t.Context(), io.Discard, from, images[:1], []bundle.File{{Name: "a"}, {Name: "a"}}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("error %v", err)
	}
}

// TestManyEntries checks that an index with a million entries is refused before they fill the memory.
func TestManyEntries(t *testing.T) {
	content := []byte(`{"manifests":[` + strings.Repeat("{},", 1_300_000) + `{}]}`)
	archive := layoutOf(t, map[string]string{"index.json": string(content)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := open(t, archive)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "more than 1000 images") {
		t.Errorf("error %v", err)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 64 {
		t.Errorf("%d MiB were allocated", used)
	}
}

// TestManyManifests checks that the manifests of an image, which are all in memory, are bounded together.
func TestManyManifests(t *testing.T) {
	files := map[string]string{}
	add := func(content string) string {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		files["blobs/sha256/"+sum] = content
		return fmt.Sprintf(`{"digest":"sha256:%s","size":%d`, sum, len(content))
	}
	var all []string
	for i := range 18 {
		all = append(all, add(fmt.Sprintf(`{"manifests":[],"n":%d}`, i)+strings.Repeat(" ", 4<<20-40))+"}")
	}
	top := add(`{"manifests":[` + strings.Join(all, ",") + `]}`)
	files["index.json"] = `{"manifests":[` + top + `,"annotations":{"org.opencontainers.image.ref.name":"a:1"}}]}`
	opened, err := open(t, layoutOf(t, files))
	testutil.Must(t, err)
	_, err = opened.Size(t.Context(), &opened.Images[0])
	if err == nil || !strings.Contains(err.Error(), "larger than 67108864 bytes") {
		t.Errorf("error %v", err)
	}
}

// layoutOf returns a tar archive with files.
func layoutOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var content bytes.Buffer
	writer := tar.NewWriter(&content)
	for name, text := range files {
		testutil.Must(t, writer.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644}))
		if _, err := writer.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	testutil.Must(t, writer.Close())
	return content.Bytes()
}

// FuzzOpen checks that no archive causes a panic.
func FuzzOpen(f *testing.F) {
	f.Add(layoutOf(f, map[string]string{
		"index.json": `{"manifests":[{"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0,` +
			`"annotations":{"org.opencontainers.image.ref.name":"a:1"}}]}`,
		"blobs/sha256/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": "",
	}))
	f.Add([]byte("no archive"))
	f.Fuzz(func(t *testing.T, content []byte) {
		opened, err := open(t, content)
		if err != nil {
			return
		}
		for i := range opened.Images {
			_, _ = opened.Size(t.Context(), &opened.Images[i])
		}
	})
}
