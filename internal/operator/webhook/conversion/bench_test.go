package conversion_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// typical returns an object like those in a cluster, with its status, its managed fields and the kubectl apply
// annotation.
func typical(t testing.TB, version string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + version + ".json")
	testutil.Must(t, err)
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
				to := &lastWrite{header: http.Header{}}
				handler.ServeHTTP(to, request)
				if !strings.HasSuffix(to.last, `"status":"Success"}}}`) {
					b.Fatal(to.last)
				}
			}
		})
	}
}
