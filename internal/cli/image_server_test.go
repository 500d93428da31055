package cli_test

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

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// imageServer is a local registry.
type imageServer struct {
	host string
	// before is called for each request. If it returns true, it has handled the request in place of the registry. writes
	// counts the requests that change something.
	before atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
	writes atomic.Int64
}

func serveImages(t *testing.T) *imageServer {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // no credentials
	s := &imageServer{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := s.before.Load(); before != nil && (*before)(w, r) {
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.writes.Add(1)
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.host = strings.TrimPrefix(server.URL, "http://")
	return s
}

func (s *imageServer) instead(answer func(http.ResponseWriter, *http.Request) bool) {
	s.before.Store(&answer)
}

func (s *imageServer) ref(t *testing.T, repository string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(s.host+"/"+repository, name.Insecure)
	testutil.Must(t, err)
	return ref
}

// get reads the image or the index with a name that push returned.
func (s *imageServer) get(t *testing.T, written string) *remote.Descriptor {
	t.Helper()
	descriptor, err := remote.Get(s.ref(t, strings.TrimPrefix(written, s.host+"/")))
	testutil.Must(t, err)
	return descriptor
}

func (s *imageServer) push(t *testing.T, repository string, image remote.Taggable) string {
	t.Helper()
	ref := s.ref(t, repository)
	testutil.Must(t, remote.Push(ref, image))
	s.writes.Store(0)
	return ref.Name()
}

// tarLayer returns a layer with one file. It is uncompressed, so that its digest does not depend on the Go version.
func tarLayer(t *testing.T, name, content string, mediaType types.MediaType) v1.Layer {
	t.Helper()
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	err := writer.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg})
	if err == nil {
		_, err = io.WriteString(writer, content)
	}
	testutil.Must(t, errors.Join(err, writer.Close()))
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive.Bytes())), nil
	},
		tarball.WithMediaType(mediaType), tarball.WithCompressionLevel(gzip.NoCompression))
	testutil.Must(t, err)
	return layer
}

// serverImage returns an image with two layers and an unrelated label from its builder.
func serverImage(t *testing.T, docker bool, architecture string) v1.Image {
	t.Helper()
	image, layerType := empty.Image, types.DockerLayer
	if !docker {
		image, layerType = mutate.ConfigMediaType(mutate.MediaType(image, types.OCIManifestSchema1), types.OCIConfigJSON),
			types.OCILayer
	}
	image, err := mutate.Append(image,
		mutate.Addendum{Layer: tarLayer(t, "base", architecture, layerType), History: v1.History{CreatedBy: "base"}},
		mutate.Addendum{Layer: tarLayer(t, "server", architecture, layerType), History: v1.History{CreatedBy: "server"}},
	)
	testutil.Must(t, err)
	file, err := image.ConfigFile()
	testutil.Must(t, err)
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", architecture
	file.Config.Labels, file.Config.Entrypoint = map[string]string{"org.example.builder": "<us & them>"},
		[]string{"llama", "stack"}
	if image, err = mutate.ConfigFile(image, file); err != nil {
		t.Fatal(err)
	}
	return image
}

// serverIndex returns an index with an image for each of two platforms, and an attestation.
func serverIndex(t *testing.T, docker bool) v1.ImageIndex {
	t.Helper()
	indexType := types.OCIImageIndex
	if docker {
		indexType = types.DockerManifestList
	}
	index := mutate.IndexMediaType(empty.Index, indexType)
	for _, architecture := range []string{"amd64", "arm64"} {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        serverImage(t, docker, architecture),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	return mutate.AppendManifests(index, mutate.IndexAddendum{
		Add: serverImage(t, docker, "attestation"),
		Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"},
			Annotations: map[string]string{
				"vnd.docker.reference.type":   "attestation-manifest",
				"vnd.docker.reference.digest": "sha256:" + strings.Repeat("0", 64),
			},
		},
	})
}

// starterConfig returns the configuration of a real distribution, enlarged by at least the given number of bytes.
func starterConfig(t *testing.T, more int) string {
	t.Helper()
	resolved, err := distribution.Resolve("starter", "", "0.7.3", nil)
	testutil.Must(t, err)
	return string(resolved.Base) + strings.Repeat("# more\n", more/7+1)
}

const ownConfig = "version: 2\ndistro_name: own\napis: [inference]\nproviders:\n  inference:\n  - provider_id: openai\n    provider_type: remote::openai\n    config: {}\n"

const providerFile = `apiVersion: llamastack.io/v1alpha1
kind: ProviderPackage
metadata: {name: custom-provider, version: "1.2", vendor: example.com}
spec:
  packageName: custom_provider
  providerType: remote::custom
  api: inference
  configSchema: {type: object, required: [url], properties: {url: {type: string}}}
`

// makeLayout writes an OCI layout with the images under their tags.
func makeLayout(t *testing.T, images map[string]v1.Image, indexes map[string]v1.ImageIndex) string {
	t.Helper()
	folder := t.TempDir()
	path, err := layout.Write(folder, empty.Index)
	testutil.Must(t, err)
	tagged := func(tag string) layout.Option {
		return layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag, "org.example": "kept"})
	}
	for tag, image := range images {
		testutil.Must(t, path.AppendImage(image, tagged(tag)))
	}
	for tag, index := range indexes {
		testutil.Must(t, path.AppendIndex(index, tagged(tag)))
	}
	return folder
}

// logIn writes a user name and a password for the registry to the user's Docker configuration. From then on, the
// registry accepts only the password s3cret.
func (s *imageServer) logIn(t *testing.T, password string) {
	t.Helper()
	s.instead(func(w http.ResponseWriter, r *http.Request) bool {
		if _, given, _ := r.BasicAuth(); given == "s3cret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	auth := base64.StdEncoding.EncodeToString([]byte("robot:" + password))
	t.Setenv("DOCKER_CONFIG", write(t, map[string]string{"config.json": fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, s.host,
		auth)}))
}
