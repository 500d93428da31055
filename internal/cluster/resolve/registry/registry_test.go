package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const config = "version: 2\napis: [inference]\n"

// served is a registry on this machine.
type served struct {
	host     string
	requests atomic.Int64
	// before returns true if it has handled the request instead of the registry.
	before atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if before := s.before.Load(); before != nil && (*before)(w, r) {
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.host = strings.TrimPrefix(server.URL, "http://")
	return s
}

// instead replaces the registry's responses.
func (s *served) instead(answer func(http.ResponseWriter, *http.Request) bool) {
	s.before.Store(&answer)
}

func (s *served) reader(t *testing.T, options Options) *Reader {
	t.Helper()
	options.Insecure = append(options.Insecure, s.host)
	options.Platform = v1.Platform{OS: "linux", Architecture: "amd64"}
	reader := New(options)
	t.Cleanup(reader.Close)
	return reader
}

// push pushes an image to the registry and returns its name with the tag.
func (s *served) push(t *testing.T, repository string, image remote.Taggable) string {
	t.Helper()
	ref, err := name.ParseReference(s.host+"/"+repository, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Push(ref, image); err != nil {
		t.Fatal(err)
	}
	return ref.Name()
}

// image returns an image with labels and layers.
func image(t *testing.T, labels map[string]string, layers ...v1.Layer) v1.Image {
	t.Helper()
	result, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	file, err := result.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.Config.Labels = labels
	file.OS, file.Architecture = "linux", "amd64"
	if result, err = mutate.ConfigFile(result, file); err != nil {
		t.Fatal(err)
	}
	return result
}

type entry struct {
	name, content string
	kind          byte
	size          int64
}

// layer returns a layer with files.
func layer(t *testing.T, entries ...entry) v1.Layer {
	t.Helper()
	var archive bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&archive, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	writer := tar.NewWriter(compressor)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Size: int64(len(e.content)) + e.size, Typeflag: e.kind, Mode: 0o644}
		if e.kind == tar.TypeSymlink {
			header.Linkname, header.Size = e.content, 0
		}
		if err := writer.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if e.kind == tar.TypeReg {
			_, err := io.Copy(writer, io.MultiReader(strings.NewReader(e.content), io.LimitReader(zeros{}, e.size)))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(writer.Close(), compressor.Close()); err != nil {
		t.Fatal(err)
	}
	// If the test passed a reader instead, the library would create a temporary file and leave it behind.
	result, err := tarball.LayerFromOpener(func() (io.ReadCloser,
		error,
	) {
		return io.NopCloser(bytes.NewReader(archive.Bytes())), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func digestOf(t *testing.T, image interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// readCase is a case of TestRead.
type readCase struct {
	name    string
	labels  map[string]string
	layers  []v1.Layer
	want    Image
	wantErr string
}

func TestRead(t *testing.T) {
	server := serve(t)
	withFile := layer(t,
		entry{name: "etc/", kind: tar.TypeDir},
		entry{name: "./etc/config.yaml", content: config, kind: tar.TypeReg})
	inLayer := func(l v1.Layer, path string) map[string]string {
		return map[string]string{LabelLayer: digestOf(t, l), LabelPath: path}
	}
	for _, tc := range []readCase{
		{name: "no label of the operator", labels: map[string]string{"other": "label"}},
		{
			name: "base64", labels: map[string]string{LabelBase64: encoded(config), LabelRelease: "0.7.3"},
			want: Image{Config: []byte(config), ConfigLabel: LabelBase64, Release: "0.7.3", ReleaseLabel: LabelRelease},
		},
		{
			name: "layer", labels: inLayer(withFile, "/etc/config.yaml"), layers: []v1.Layer{withFile},
			want: Image{Config: []byte(config), ConfigLabel: LabelLayer, ConfigFile: "etc/config.yaml"},
		},
		{
			name: "base64 before layer", layers: []v1.Layer{withFile},
			labels: map[string]string{LabelBase64: encoded("version: 1\n"), LabelLayer: digestOf(t, withFile), LabelPath: "etc/config.yaml"},
			want:   Image{Config: []byte("version: 1\n"), ConfigLabel: LabelBase64},
		},
		{
			name: "label of an image of the server project",
			labels: map[string]string{
				LabelDefaultConfig: "config.yaml", "com.ogx.config.config.yaml": encoded(config), LabelImageVersion: "1.5.0",
			},
			want: Image{
				Config: []byte(config), ConfigLabel: "com.ogx.config.config.yaml", Release: "1.5.0",
				ReleaseLabel: LabelImageVersion,
			},
		},
		{
			name: "version", labels: map[string]string{LabelBase64: encoded(config), LabelConfigVersion: "2"},
			want: Image{Config: []byte(config), ConfigLabel: LabelBase64, ConfigVersion: "2"},
		},
		{name: "version without a configuration", labels: map[string]string{LabelConfigVersion: "3"}},
		{
			name: "unsupported version", labels: map[string]string{LabelLayer: digestOf(t, withFile), LabelPath: "no such file", LabelConfigVersion: "3"},
			wantErr: `label "io.llamastack.config.version": Unsupported config.yaml version 3. Supported versions: 1, 2`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.check(t, server)
		})
	}
}

func (tc readCase) check(t *testing.T, server *served) {
	t.Helper()
	built := image(t, tc.labels, tc.layers...)
	ref := server.push(t, "test/"+strings.ReplaceAll(tc.name, " ", "-")+":0.7.3", built)
	got, err := server.reader(t, Options{}).Read(t.Context(), ref, &Keychain{})
	if tc.wantErr != "" {
		if err == nil || !strings.Contains(err.Error(), tc.wantErr) || Transient(err) {
			t.Fatalf("got %v (transient: %t), want an error with %q", err, Transient(err), tc.wantErr)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	tc.want.Digest = digestOf(t, built)
	if diff := cmp.Diff(&tc.want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestIndex checks that the image for the platform is read, and that the reported digest is the digest of the index, so
// that a pod with this digest runs on every platform.
func TestIndex(t *testing.T) {
	server := serve(t)
	other := image(t, map[string]string{LabelBase64: encoded("version: 1\n")})
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: other, Descriptor: v1.Descriptor{Platform: &v1.Platform{
			OS:           "linux",
			Architecture: "arm64",
		}}},
		mutate.IndexAddendum{
			Add:        image(t, map[string]string{LabelBase64: encoded(config)}),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}},
		})
	ref := server.push(t, "test/index:1", index)
	got, err := server.reader(t, Options{}).Read(t.Context(), ref, &Keychain{})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Config) != config || got.Digest != digestOf(t, index) {
		t.Errorf("got %q with digest %s, want %q with the digest %s of the index", got.Config, got.Digest, config, digestOf(t, index))
	}
}

// TestRemembered checks that the content of a digest is read once, and that the manifest is requested for each read.
func TestRemembered(t *testing.T) {
	server := serve(t)
	ref := server.push(t, "test/known:1", image(t, map[string]string{LabelBase64: encoded(config)}))
	reader := server.reader(t, Options{})
	for range 2 {
		if _, err := reader.Read(t.Context(), ref, &Keychain{}); err != nil {
			t.Fatal(err)
		}
	}
	// The requests are a ping and a request for the manifest.
	before := server.requests.Load()
	if _, err := reader.Read(t.Context(), ref, &Keychain{}); err != nil {
		t.Fatal(err)
	}
	if calls := server.requests.Load() - before; calls > 2 {
		t.Errorf("%d requests for a known digest, want at most 2", calls)
	}
	// A caller without permission for the repository receives no content, even if the content is known.
	server.instead(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	if got, err := reader.Read(t.Context(), ref, &Keychain{}); err == nil {
		t.Errorf("got %+v without permission", got)
	}
}

// TestPlainHTTP checks that a registry that is not listed as insecure is never reached without TLS, not even through a
// redirect.
func TestPlainHTTP(t *testing.T) {
	server := serve(t)
	ref := server.push(t, "test/plain:1", image(t, nil))
	reader := New(Options{})
	t.Cleanup(reader.Close)
	before := server.requests.Load()
	if _, err := reader.Read(t.Context(), ref, &Keychain{}); err == nil {
		t.Error("a registry that is not listed was read over plain HTTP")
	}
	if asked := server.requests.Load() - before; asked != 0 {
		t.Errorf("the registry got %d requests, want none", asked)
	}

	target := serve(t)
	server.instead(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		http.Redirect(w, r, "http://"+target.host+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	})
	_, err := server.reader(t, Options{}).Read(t.Context(), ref, &Keychain{})
	if !errors.Is(err, errPlainHTTP) || target.requests.Load() != 0 {
		t.Errorf("got %v after %d requests, want %v", err, target.requests.Load(), errPlainHTTP)
	}
}

// TestCredentials checks that a pull Secret gives access to its registry, and that a private repository cannot be read
// without a pull Secret.
func TestCredentials(t *testing.T) {
	server := serve(t)
	ref := server.push(t, "team/closed:1", image(t, map[string]string{LabelBase64: encoded(config)}))
	server.instead(func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "robot" && password == "open" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	secret := func(target, password string) string {
		return fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, target, encoded("robot:"+password))
	}
	for _, tc := range []struct {
		name    string
		secrets []string
		opens   bool
	}{
		{name: "none"},
		{name: "registry", secrets: []string{secret(server.host, "open")}, opens: true},
		{name: "with scheme and version", secrets: []string{secret("https://"+server.host+"/v2/", "open")}, opens: true},
		{name: "repository before registry", secrets: []string{secret(server.host, "wrong"), secret(server.host+"/team", "open")}, opens: true},
		{name: "another repository", secrets: []string{secret(server.host+"/tea", "open")}},
		{name: "wrong", secrets: []string{secret(server.host, "wrong")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			keychain := &Keychain{}
			for _, content := range tc.secrets {
				if err := keychain.Add([]byte(content)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := server.reader(t, Options{}).Read(t.Context(), ref, keychain)
			if opened := err == nil; opened != tc.opens {
				t.Errorf("opened: %t (%v), want %t", opened, err, tc.opens)
			}
			if err != nil && strings.Contains(err.Error(), "wrong") {
				t.Errorf("the error contains a password: %v", err)
			}
		})
	}
}

// TestKeychainOrder checks that the same Secret always results in the same credentials.
func TestKeychainOrder(t *testing.T) {
	repository, err := name.NewRepository("quay.io/team/server")
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		keychain := &Keychain{Repositories: []string{"quay.io/team/server"}}
		if err := keychain.Add([]byte(`{"auths":{"quay.io":{"username":"b","password":"p"},"https://quay.io/v1/":{"username":"a","password":"p"}}}`)); err != nil {
			t.Fatal(err)
		}
		found, err := keychain.Resolve(repository)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := found.Authorization(); err != nil || got.Username != "a" {
			t.Fatalf("got %v, %v, want the user a", got, err)
		}
	}
}
