package registry

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/klauspost/compress/zstd"
	"k8s.io/apimachinery/pkg/types"
)

// yamlOf returns a configuration of the given size. Each number results in a different configuration.
func yamlOf(number, size int) string {
	line := fmt.Sprintf("# configuration %d\n%s", number, config)
	return line + strings.Repeat("# some more of it, as of many providers and models\n", size)[:size-len(line)]
}

const usualConfig = 50 << 10

// BenchmarkExtract reads a configuration of 50 KiB from an image in memory, to measure the time of a read without the
// network. The limit is 50 ms.
func BenchmarkExtract(b *testing.B) {
	wanted := yamlOf(0, usualConfig)
	for _, form := range []string{"label", "layer", "gzip", "zstd"} {
		b.Run(form, func(b *testing.B) {
			repository := &forged{content: map[string][]byte{}}
			repository.hold(b, form, wanted)
			image, err := decodeManifest(repository.tag)
			if err != nil {
				b.Fatal(err)
			}
			from := blobs{}
			for _, content := range repository.content {
				from.add(b, content)
			}
			b.ReportAllocs()
			for b.Loop() {
				got, err := (&trail{from: from}).follow(b.Context(), image, amd64, false)
				if err != nil || string(got.Config) != wanted {
					b.Fatal(len(got.Config), err)
				}
			}
		})
	}
}

// hold creates an image whose configuration is in a label, or in a layer after another file. With the form gzip or
// zstd, the layer is compressed.
func (f *forged) hold(tb testing.TB, form, config string) {
	if form == "label" {
		f.image(labels(map[string]string{LabelBase64: encoded(config)}))
		return
	}
	const before = 512 << 10
	files := rawFile("usr/lib/server", strings.Repeat("program ", before/8))
	files = append(append(files, rawFile("config.yaml", config)...), make([]byte, 1024)...)
	switch form {
	case "gzip":
		files = gzipped(tb, bytes.NewReader(files))
	case "zstd":
		files = zstandard(tb, bytes.NewReader(files), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	}
	f.layered("config.yaml", files)
}

func rawFile(name, content string) []byte {
	file := append(rawHeader(name, '0', fmt.Sprintf("%011o\x00", len(content))), content...)
	return append(file, make([]byte, (512-len(content)%512)%512)...)
}

// manyImages returns images with different configurations, spread across registries on one server.
func manyImages(tb testing.TB, count, size int, form string, registries int) (hosts, images []string) {
	tb.Helper()
	repositories := map[string]*forged{}
	for range registries {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if repository, ok := repositories[strings.SplitN(r.URL.Path+"//", "/", 4)[2]]; ok {
				repository.ServeHTTP(w, r)
			}
		}))
		tb.Cleanup(server.Close)
		hosts = append(hosts, strings.TrimPrefix(server.URL, "http://"))
	}
	for i := range count {
		repository := &forged{content: map[string][]byte{}}
		repository.hold(tb, form, yamlOf(i, size))
		repositories[fmt.Sprint("image-", i)] = repository
		images = append(images, fmt.Sprintf("%s/image-%d:1", hosts[i%registries], i))
	}
	return hosts, images
}

// readAtOnce makes a pool read images, each for a stack in one of ten namespaces. It returns the largest growth of the
// heap, including garbage, during the reads.
func readAtOnce(tb testing.TB, hosts, images []string) (peak uint64) {
	tb.Helper()
	const namespaces = 10
	told := make(chan types.NamespacedName, len(images))
	pool := NewPool(PoolOptions{
		Credentials: func(context.Context, Target, []string) (authn.Keychain, error) { return &Keychain{}, nil },
		Notify:      func(_ context.Context, stack types.NamespacedName) { told <- stack },
	})
	pool.Configure(Options{Insecure: hosts})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	runtime.GC()
	before := heap()
	go func() { ended <- pool.Start(ctx) }()
	for i, image := range images {
		pool.Read(Target{
			Stack: types.NamespacedName{Namespace: fmt.Sprint(i % namespaces), Name: fmt.Sprint(i)},
			Image: image,
		})
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for left := len(images); left > 0; {
		select {
		case <-told:
			left--
		case <-look.C:
		case <-tb.Context().Done():
			tb.Fatal(tb.Context().Err())
		}
		if now := heap(); now > before+peak {
			peak = now - before
		}
	}
	for i, image := range images {
		outcome, ok := pool.Read(Target{Stack: types.NamespacedName{
			Namespace: fmt.Sprint(i % namespaces),
			Name:      fmt.Sprint(i),
		}, Image: image})
		if ok && (outcome.Image == nil || !strings.HasPrefix(string(outcome.Image.Config),
			fmt.Sprintf("# configuration %d\n", i))) {
			tb.Fatalf("%s: got %v", image, outcome.Err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		tb.Error(err)
	}
	pool.reader.Close()
	return peak
}

func heap() uint64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc
}

// TestMemoryOfManyImages checks the memory that is necessary to read a hundred different images at once, for each form
// of their configuration. The figure includes the memory that the test's server uses.
func TestMemoryOfManyImages(t *testing.T) {
	most := uint64(64 << 20)
	if raced {
		most *= 2 // the race detector makes sync.Pool drop some decoders on purpose
	}
	defer debug.SetGCPercent(debug.SetGCPercent(60)) // the operator's setting
	for _, form := range []string{"label", "gzip", "zstd"} {
		hosts, images := manyImages(t, 100, usualConfig, form, 2*readers)
		if peak := readAtOnce(t, hosts, images); peak > most {
			t.Errorf("%s: %d MiB, want at most %d", form, peak>>20, most>>20)
		} else {
			t.Logf("%s: %d MiB", form, peak>>20)
		}
	}
}

// TestMemoryOfOneImage checks that what a reader keeps of an image, or of the reason why it cannot be used, is small,
// even if its labels and its entrypoint are as long as a registry allows. The pool keeps it for each stack.
func TestMemoryOfOneImage(t *testing.T) {
	const most = 64 << 10
	long := strings.Repeat("a", 1<<20)
	for name, config := range map[string]string{
		"blanks around a version": labels(map[string]string{
			LabelBase64: encoded("{}"), LabelConfigVersion: strings.Repeat(" ", 3<<20) + "2",
		}),
		"line breaks in base64": labels(map[string]string{LabelBase64: "e3" + strings.Repeat("\n", maxConfig) + "0="}),
		"long name of a file": labels(map[string]string{
			LabelDefaultConfig: long, labelConfigFile + long: encoded("{}"),
		}),
		"long name of a bad file": labels(map[string]string{LabelDefaultConfig: long, labelConfigFile + long: "?"}),
		"long name of no file":    labels(map[string]string{LabelDefaultConfig: long}),
		"many empty arguments":    `{"config":{"Entrypoint":["a"` + strings.Repeat(`,""`, 7_000) + `]}}`,
		"long release":            labels(map[string]string{LabelRelease: long}),
		"long path":               labels(map[string]string{LabelLayer: digestOfBytes(nil), LabelPath: long}),
		"long digest":             labels(map[string]string{LabelLayer: "sha256:" + long, LabelPath: "a"}),
		"unknown version, long":   labels(map[string]string{LabelBase64: encoded("{}"), LabelConfigVersion: long}),
		"layer without the file": labels(map[string]string{
			LabelLayer: digestOfBytes(make([]byte, 1024)), LabelPath: long[:4000],
		}),
		"configuration that is 1 B": labels(map[string]string{LabelBase64: "YQ=="}),
	} {
		repository := &forged{content: map[string][]byte{}}
		repository.image(config, make([]byte, 1024))
		from := blobs{}
		for _, content := range repository.content {
			from.add(t, content)
		}
		top, err := decodeManifest(repository.tag)
		if err != nil {
			t.Fatal(err)
		}
		kept := make([]content, 8)
		runtime.GC()
		before := heap()
		for i := range kept {
			kept[i].image, kept[i].err = (&trail{from: from}).follow(t.Context(), top, amd64, false)
		}
		runtime.GC()
		if after := heap(); after > before && (after-before)/uint64(len(kept)) > most {
			t.Errorf("%s: %d bytes are kept, want at most %d", name, (after-before)/uint64(len(kept)), most)
		}
		runtime.KeepAlive(kept)
	}
}

// TestMemoryOfAChallenge checks that a reader keeps little of a registry's challenge.
func TestMemoryOfAChallenge(t *testing.T) {
	var header strings.Builder
	header.WriteString(`Bearer realm="https://auth.example.com/token",service="a"`)
	for i := range 35_000 {
		fmt.Fprintf(&header, `,%x=1`, i)
	}
	asked := 0
	reader := New(Options{})
	reader.through.secure = answers(func(*http.Request) *http.Response {
		asked++
		return &http.Response{
			StatusCode: http.StatusUnauthorized, Body: http.NoBody, Header: http.Header{"Www-Authenticate": {header.String()}},
		}
	})
	runtime.GC()
	before := heap()
	for i := range rememberedRegistries {
		registry, err := name.NewRegistry(fmt.Sprintf("r%d.example.com", i))
		if err != nil {
			t.Fatal(err)
		}
		challenge, err := reader.challenge(t.Context(), registry, reader.through)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"realm": "https://auth.example.com/token", "service": "a"}
		if diff := cmp.Diff(want, challenge.Parameters); diff != "" {
			t.Fatalf("parameters (-want +got):\n%s", diff)
		}
	}
	runtime.GC()
	if after := heap(); after > before+1<<20 || asked != rememberedRegistries {
		t.Errorf("%d KiB are kept after %d requests, want at most 1024", (after-before)>>10, asked)
	}
	runtime.KeepAlive(reader)
}

// answers is a transport for a test.
type answers func(*http.Request) *http.Response

// RoundTrip returns the response to a request.
func (a answers) RoundTrip(request *http.Request) (*http.Response, error) {
	response := a(request)
	response.Request = request
	return response, nil
}

// TestMemoryOfCredentials checks that the pool does not keep the names of many repositories with their credentials.
func TestMemoryOfCredentials(t *testing.T) {
	kept := &Keychain{}
	for i := range 1000 {
		kept.Repositories = append(kept.Repositories, fmt.Sprintf("registry.example.com/%d%s", i, strings.Repeat("/a", 110)))
	}
	if err := kept.Add([]byte(`{"auths":{"registry.example.com":{"auth":"YTpi"}}}`)); err != nil {
		t.Fatal(err)
	}
	if size := kept.finish(); size < maxCredentials || kept.Repositories != nil || kept.covers != nil {
		t.Errorf("counted %d bytes, and kept %d repositories and %d prefixes", size, len(kept.Repositories), len(kept.covers))
	}
}

// BenchmarkManyImages measures how much the heap grows when a hundred different images are read at once, for typical
// configurations and for the largest ones, from one registry and from more registries than the pool reads from at once.
func BenchmarkManyImages(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(60))
	for _, size := range []int{usualConfig, maxConfig} {
		for _, registries := range []int{1, 2 * readers} {
			for _, form := range []string{"label", "gzip", "zstd"} {
				b.Run(fmt.Sprintf("%dKiB/%d/%s", size>>10, registries, form), func(b *testing.B) {
					hosts, images := manyImages(b, 100, size, form, registries)
					var peak uint64
					for b.Loop() {
						peak = max(peak, readAtOnce(b, hosts, images))
					}
					b.ReportMetric(float64(peak)/(1<<20), "MiB")
				})
			}
		}
	}
}

// TestMemoryOfHeaders checks the memory of a read that a registry stalls after redirects with headers of many lines. A
// response keeps the responses that led to it.
func TestMemoryOfHeaders(t *testing.T) {
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range maxHeader / 9 {
			w.Header()[fmt.Sprintf("%x", i)] = []string{""}
		}
		if hops := len(r.URL.Path); hops <= maxRedirects {
			w.Header().Set("Location", "/"+strings.Repeat("a", hops))
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}))
	defer registry.Close()
	host := strings.TrimPrefix(registry.URL, "http://")
	client := http.Client{Transport: newTransport(Options{Insecure: []string{host}})}
	runtime.GC()
	before := heap()
	response, err := client.Get(registry.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	runtime.GC()
	if kept := heap(); redirects(response.Request) != maxRedirects || kept > before+8<<20 {
		t.Errorf("a response after %d redirects needs more than %d bytes, then %d", redirects(response.Request), before, kept)
	}
}
