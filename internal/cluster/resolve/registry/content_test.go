package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/zstd"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/failure"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
)

// blobs is a repository in memory.
type blobs map[v1.Hash][]byte

// content returns the content of an image.
func (b blobs) content(ctx context.Context, of *manifest) (*Image, error) {
	return (&trail{from: b}).follow(ctx, of, amd64, false)
}

func (b blobs) add(t testing.TB, content []byte) descriptor {
	t.Helper()
	digest, size, err := v1.SHA256(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	b[digest] = content
	return descriptor{Digest: digest, Size: size}
}

// labeled returns the manifest of an image with labels and one layer.
func (b blobs) labeled(t testing.TB, labels map[string]string, layer descriptor) *manifest {
	t.Helper()
	encodedLabels, err := json.Marshal(labels)
	if err != nil {
		t.Fatal(err)
	}
	config := b.add(t, []byte(`{"config":{"Labels":`+string(encodedLabels)+`}}`))
	layers, err := json.Marshal([]descriptor{layer})
	if err != nil {
		t.Fatal(err)
	}
	return &manifest{Config: &config, Layers: layers}
}

func inLayerOf(layer descriptor, path string) map[string]string {
	return map[string]string{LabelLayer: layer.Digest.String(), LabelPath: path}
}

// TestLargestWindow checks that a zstd window of the maximum size is accepted.
func TestLargestWindow(t *testing.T) {
	content, err := layer(t, entry{name: "padding", kind: '0', size: 64 << 20}, entry{name: "config.yaml", content: config, kind: '0'}).Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	repository := blobs{}
	layer := repository.add(t, zstandard(t, content, zstd.WithWindowSize(maxWindow)))
	got, err := repository.content(t.Context(), repository.labeled(t, inLayerOf(layer, "config.yaml"), layer))
	if err != nil || string(got.Config) != config {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestForgedBlobs checks that bytes that do not match their digest are neither used nor reported as the image's
// content.
func TestForgedBlobs(t *testing.T) {
	plain, err := layer(t, entry{name: "config.yaml", content: config, kind: '0'}).Compressed()
	if err != nil {
		t.Fatal(err)
	}
	right, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func([]byte) []byte{
		"different end": func(b []byte) []byte { return append(bytes.Clone(b[:len(b)-1]), b[len(b)-1]+1) },
		"longer":        func(b []byte) []byte { return append(bytes.Clone(b), 0) },
		"shorter":       func(b []byte) []byte { return b[:len(b)-1] },
		"empty":         func([]byte) []byte { return nil },
		"not a layer":   func(b []byte) []byte { return bytes.Repeat([]byte("x"), len(b)) },
		"nothing else":  bytes.Clone,
	} {
		t.Run(name, func(t *testing.T) {
			repository := blobs{}
			layer := repository.add(t, right)
			image := repository.labeled(t, inLayerOf(layer, "config.yaml"), layer)
			for part, digest := range map[string]v1.Hash{"layer": layer.Digest, "configuration": image.Config.Digest} {
				kept := repository[digest]
				repository[digest] = forge(kept)
				got, err := repository.content(t.Context(), image)
				if same := bytes.Equal(kept, repository[digest]); same != (err == nil) || !same &&
					!errors.Is(err, errWrongContent) {
					t.Errorf("%s: got %v, %v", part, got, err)
				}
				repository[digest] = kept
			}
		})
	}
}

// allocated returns the number of bytes that a call allocates in total.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// hostile returns manifests and configurations of a given size that are cheap to send.
func hostile(size int) map[string]string {
	full := func(start, entry, end string) string {
		return start + strings.TrimSuffix(strings.Repeat(entry, (size-len(start)-len(end))/len(entry)), ",") + end
	}
	config := `"config":{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":1},`
	return map[string]string{
		"layers":        full("{"+config+`"layers":[`, `{},`, "]}"),
		"manifests":     full(`{"manifests":[`, `{},`, "]}"),
		"annotations":   full("{"+config+`"annotations":{`, `"":"",`, "}}"),
		"deep":          full("{"+config+`"layers":`, `[`, ""),
		"fields":        full("{"+config, `"layers":[{}],`, "}"),
		"labels":        full(`{"config":{"Labels":{`, `"":"",`, "}}}"),
		"entrypoint":    full(`{"config":{"Entrypoint":[`, `"",`, "]}}"),
		"cmd":           full(`{"config":{"Cmd":[`, `"",`, "]}}"),
		"history":       full(`{"config":{},"history":[`, `{},`, "]}"),
		"features":      full(`{"manifests":[{"platform":{"os.features":[`, `"",`, "]}}]}"),
		"same again":    full(`{"config":{`, `"Labels":{"a":"b"},`, `"Labels":{}}}`),
		"one label":     full(`{"config":{"Labels":{"`+LabelRelease+`":"`, `x`, `"}}}`),
		"one long name": full(`{"config":{"Labels":{"`, `\u0000`, `":""}}}`),
	}
}

// inspectAll processes bytes in every way in which the package processes manifests and configurations.
func inspectAll(ctx context.Context, content []byte) {
	never := func(*descriptor) bool { return false }
	if found, err := decodeManifest(content); err == nil {
		_, _ = find(ctx, found.Layers, never)
		_, _ = find(ctx, found.Manifests, never)
	}
	if found, err := decodeImageConfig(content); err == nil {
		_, _ = found.labels(ctx)
		_, _ = found.entrypoint()
	}
}

// TestCostOfContent checks that the memory that is allocated for a manifest or a configuration grows at most linearly
// with its size, and is bounded for the largest one.
func TestCostOfContent(t *testing.T) {
	const most = 32 << 20 // the total; only a part of it is in use at a time
	half, full := hostile(maxManifest/2), hostile(maxManifest)
	for name := range full {
		t.Run(name, func(t *testing.T) {
			once := allocated(func() { inspectAll(t.Context(), []byte(half[name])) })
			twice := allocated(func() { inspectAll(t.Context(), []byte(full[name])) })
			t.Logf("%d KiB, %d KiB", once>>10, twice>>10)
			if twice > 5*once/2+1<<16 || twice > most {
				t.Errorf("%d bytes of content allocate %d bytes, and %d bytes of content allocate %d bytes", len(half[name]), once, len(full[name]), twice)
			}
		})
	}
}

// TestContextWhileDecoding checks that decoding stops when the caller's context ends.
func TestContextWhileDecoding(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	looked := 0
	_, err := find(ctx, json.RawMessage(`[{},{},{}]`), func(*descriptor) bool { looked++; cancel(); return false })
	if looked != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("looked at %d entries, %v", looked, err)
	}
	config, err := decodeImageConfig([]byte(`{"config":{"Labels":{"a":"b"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := config.labels(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := fileInLayer(ctx, strings.NewReader(strings.Repeat("x", 1024)), "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a layer: got %v, want %v", err, context.Canceled)
	}
}

func TestDecodeManifest(t *testing.T) {
	for content, valid := range map[string]bool{
		`{"config":{},"layers":[]}`:                  true,
		`{"config":{}}`:                              true,
		`{"manifests":[]}`:                           true,
		`{"manifests":[],"layers":[]}`:               false,
		`{"manifests":[],"config":{}}`:               false,
		`{"layers":[]}`:                              false,
		`{"schemaVersion":1,"fsLayers":[]}`:          false,
		`{"config":{"digest":"md5:00"},"layers":[]}`: false,
		`[]`: false, `{`: false, ``: false, `null`: false,
	} {
		if _, err := decodeManifest([]byte(content)); (err == nil) != valid {
			t.Errorf("%s: got %v, valid: %t", content, err, valid)
		}
	}
}

func TestImageConfig(t *testing.T) {
	for _, tc := range []struct {
		content    string
		labels     int
		entrypoint string
		wrong      bool
	}{
		{content: `{}`},
		{content: `{"config":null}`},
		{content: `{"config":{"Labels":null,"Entrypoint":null,"Cmd":null}}`},
		{content: `{"config":{"Labels":{"a":"b","io.llamastack.config.path":"c"}}}`, labels: 1},
		{content: `{"config":{"Entrypoint":["a","b"],"Cmd":[]}}`, entrypoint: "[a b]"},
		{content: `{"config":{"Entrypoint":["a"],"Cmd":["b"]}}`},
		{content: `{"config":{"Entrypoint":["` + strings.Repeat("x", maxEntrypoint+1) + `"]}}`},
		{content: `{"config":{"Entrypoint":["` + strings.Repeat("x", maxRawEntrypoint) + `"]}}`},
		{content: `{"config":{"Labels":[]}}`, wrong: true},
		{content: `{"config":{"Labels":{"a":1}}}`, wrong: true},
		{content: `{"config":{"Entrypoint":"a"}}`, wrong: true},
		{content: `{"config":{"Cmd":"a"}}`, wrong: true},
		{content: `{"config":[]}`, wrong: true},
	} {
		config, err := decodeImageConfig([]byte(tc.content))
		var labels map[string]string
		var entrypoint []string
		if err == nil {
			labels, err = config.labels(t.Context())
		}
		if err == nil {
			entrypoint, err = config.entrypoint()
		}
		if (err != nil) != tc.wrong || len(labels) != tc.labels || tc.entrypoint != "" && fmt.Sprint(entrypoint) != tc.entrypoint || tc.entrypoint == "" && entrypoint != nil {
			t.Errorf("%.80s: got %v, %v, %v", tc.content, labels, entrypoint, err)
		}
	}
}

// FuzzImage reads labels and a layer with any content. The read must not panic or exceed the bounds.
func FuzzImage(f *testing.F) {
	f.Add(encoded(config), "", "", []byte(nil))
	f.Add("", "sha256:"+strings.Repeat("0", 64), "/etc/config.yaml", []byte("x"))
	f.Fuzz(func(t *testing.T, text, digest, path string, content []byte) {
		repository, labels := blobs{}, map[string]string{}
		layer := repository.add(t, content)
		if digest == "own" {
			digest = layer.Digest.String()
		}
		for label, value := range map[string]string{LabelBase64: text, LabelLayer: digest, LabelPath: path} {
			if value != "" {
				labels[label] = value
			}
		}
		got, err := repository.content(t.Context(), repository.labeled(t, labels, layer))
		if err == nil && len(got.Config) > maxConfig+2 {
			t.Errorf("read %d bytes", len(got.Config))
		}
	})
}

// FuzzContent decodes any content that a registry can send.
func FuzzContent(f *testing.F) {
	for _, content := range hostile(200) {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) { inspectAll(t.Context(), content) })
}

// TestWindows checks that slow transfers of zstd layers do not block layers that are already in memory, that a
// namespace holds at most one window, and that the number of windows in use at once is bounded.
func TestWindows(t *testing.T) {
	noise := make([]byte, 2*atHand)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	large := zstandard(t, bytes.NewReader(append(rawFile("noise", string(noise)), rawFile("config.yaml", config)...)))
	small := zstandard(t, bytes.NewReader(rawFile("config.yaml", config)))
	read := func(namespace string, content io.Reader, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(forNamespace(t.Context(), namespace), patience)
		defer cancel()
		found, err := fileInLayer(ctx, content, "config.yaml")
		if err == nil && string(found) != config {
			t.Errorf("found %q", found)
		}
		return err
	}
	arrived, holds, results := make(chan struct{}), make(chan struct{}), make(chan error)
	before, rest := large[:len(large)-100], large[len(large)-100:]
	stall := func(namespace string) {
		slow := io.MultiReader(bytes.NewReader(before), &arriving{holds, arrived}, bytes.NewReader(rest))
		go func() { results <- read(namespace, slow, time.Minute) }()
	}
	late := func(namespace string) {
		t.Helper()
		err := read(namespace, bytes.NewReader(large), 10*time.Millisecond)
		if err == nil || err.Error() != failure.ErrNoAnswer.Error() || !Transient(err) {
			t.Errorf("one layer too many: %v", err)
		}
	}
	stall("loud")
	<-holds
	stall("loud") // waits for the window of its namespace
	late("loud")
	if err := read("calm", bytes.NewReader(large), time.Minute); err != nil {
		t.Errorf("another namespace: %v", err)
	}
	stall("slow")
	<-holds
	late("calm")
	if err := read("calm", bytes.NewReader(small), time.Minute); err != nil {
		t.Errorf("a layer that is already in memory: %v", err)
	}
	close(arrived)
	<-holds
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if err := read("loud", bytes.NewReader(large), time.Minute); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// arriving is a reader without data. A read reports that it is reached, and blocks until the channel `until` is closed.
type arriving struct{ reached, until chan struct{} }

func (a *arriving) Read([]byte) (int, error) {
	a.reached <- struct{}{}
	<-a.until
	return 0, io.EOF
}

// TestPanickedDecoder checks that a decoder that panicked is not used for another layer.
func TestPanickedDecoder(t *testing.T) {
	before := decoders
	defer func() { decoders = before }()
	decoders = &sync.Pool{}
	random := make([]byte, 2*atHand)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	layer := zstandard(t, bytes.NewReader(append(rawHeader("padding", '0', "00010000000\x00"), random...)))
	content := io.MultiReader(bytes.NewReader(layer[:atHand+1]), nil) // its end panics
	err := share.Recovered(func() {
		_, err := fileInLayer(t.Context(), content, "config.yaml")
		t.Error("no panic", err)
	})
	if err == nil || decoders.Get() != nil {
		t.Errorf("the decoder is kept after: %v", err)
	}
}
