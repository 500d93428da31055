package conversion_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
)

// typical returns an object like those in a cluster, with its status, its managed fields and the kubectl apply
// annotation.
func typical(t testing.TB, version string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + version + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(data))
}

// BenchmarkConvert measures the time that the handler takes for a review. The bounds on an idle core are 200 µs for one
// object and 200 ms for a thousand.
func BenchmarkConvert(b *testing.B) {
	for name, c := range map[string]struct {
		version, desired string
		objects          int
	}{
		"v1alpha1 to v1alpha2/one":      {"v1alpha1", v2, 1},
		"v1alpha2 to v1alpha1/one":      {"v1alpha2", v1, 1},
		"v1alpha1 to v1alpha2/thousand": {"v1alpha1", v2, 1000},
		"v1alpha2 to v1alpha1/thousand": {"v1alpha2", v1, 1000},
	} {
		b.Run(name, func(b *testing.B) {
			handler := conversion.Handler(logr.Discard())
			body := reviewOf(c.desired, strings.Repeat(typical(b, c.version)+",", c.objects-1)+typical(b, c.version))
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequest(http.MethodPost, "/convert", strings.NewReader(body))
				request.Header.Set("Content-Type", "application/json")
				to := &counter{header: http.Header{}}
				handler.ServeHTTP(to, request)
				if !strings.HasSuffix(to.last, `"status":"Success"}}}`) {
					b.Fatal(to.last)
				}
			}
		})
	}
}

// BenchmarkConvertLarge converts 200 objects of 1.5 MiB in one review over a connection. It reports the peak heap size,
// which includes the client's part and garbage that has not been collected yet.
func BenchmarkConvertLarge(b *testing.B) {
	server := serve(b)
	for b.Loop() {
		runtime.GC()
		var got outcome
		most := peak(func() {
			body := many(large("a", 3<<19), 200)
			got = counted(b, server, body, body.size())
		})
		if got.status != "Success" || got.bytes < 200*3<<19 {
			b.Fatalf("got %+v", got)
		}
		b.ReportMetric(float64(most), "peak-heap-B")
	}
}

// counted sends a review and counts the bytes of the response.
func counted(b *testing.B, server *httptest.Server, body io.Reader, size int64) outcome {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL, body)
	if err != nil {
		b.Fatal(err)
	}
	request.ContentLength = size
	request.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	to := &counter{}
	if _, err := io.Copy(to, response.Body); err != nil {
		b.Fatal(err)
	}
	if strings.HasSuffix(to.last, `"status":"Success"}}}`) {
		return outcome{bytes: to.bytes, status: "Success"}
	}
	return outcome{message: to.last}
}

// peak returns the largest heap size while a function runs.
func peak(run func()) uint64 {
	var most uint64
	var sampler sync.WaitGroup
	done := make(chan struct{})
	sampler.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				metrics.Read(sample)
				most = max(most, sample[0].Value.Uint64())
			}
		}
	})
	run()
	close(done)
	sampler.Wait()
	return most
}
