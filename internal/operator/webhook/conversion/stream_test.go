package conversion_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
)

// large returns an object of approximately the given size in bytes. The object contains a list that conversion copies.
func large(name string, size int) string {
	return strings.Replace(older(name), `"server":{`, `"server":{"containerSpec":{"args":["`+strings.Repeat(`x","`,
		size/4)+`x"]},`, 1)
}

// many returns a review that contains one object the given number of times.
func many(object string, times int) string {
	return reviewOf(v2, slices.Repeat([]string{object}, times)...)
}

// The handler converts a list of large objects.
func TestStreams(t *testing.T) {
	server := serve(t)
	got := post(t, server, strings.NewReader(many(large("a", 3<<19), 10)))
	if got.code != http.StatusOK || got.Response.Result.Status != metav1.StatusSuccess ||
		len(got.Response.ConvertedObjects) != 10 {
		t.Errorf("code %d, %d objects, %+v", got.code, len(got.Response.ConvertedObjects), got.Response.Result)
	}
	for i, object := range got.Response.ConvertedObjects {
		if len(object.Raw) < 3<<19 {
			t.Errorf("object %d has %d bytes", i, len(object.Raw))
		}
	}
	// The review does not affect the next one on the same connection.
	again := post(t, server, strings.NewReader(reviewOf(v2, older("a"))))
	if again.Response.Result.Status != metav1.StatusSuccess {
		t.Errorf("the next review: %+v", again.Response.Result)
	}
}

// If the conversion fails after a part of the response was sent, the response is still complete.
func TestFailureInTheMiddle(t *testing.T) {
	server := serve(t)
	bad := strings.Replace(older("bad"), "LlamaStackDistribution", "Pod", 1)
	for name, c := range map[string]struct{ tail, want string }{
		"an object": {"," + bad + "]}}", `objects[4] "team-a/bad": kind "Pod"`},
		"an object with more objects after it": {
			"," + bad + strings.Repeat(","+large("b", 1<<20), 4) + "]}}",
			`objects[4] "team-a/bad": kind "Pod"`,
		},
		"the end":   {"", "it is truncated"},
		"no JSON":   {"}" + strings.Repeat(" ", 4<<20), "invalid character '}' after array element"},
		"too large": {"," + large("bad", 9<<20) + "]}}", `objects[4] "team-a/bad" is larger than 8 MiB`},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.TrimSuffix(many(large("a", 3<<20), 4), "]}}\n") + c.tail
			got := post(t, server, strings.NewReader(body))
			result, objects := got.Response.Result, len(got.Response.ConvertedObjects)
			if got.code != http.StatusOK || objects != 4 || result.Status != metav1.StatusFailure ||
				!strings.Contains(result.Message, c.want) {
				t.Errorf("code %d, %d objects, %s: %q; want %q", got.code, objects, result.Status, result.Message, c.want)
			}
		})
	}
}

// The memory for a review depends on its largest object and not on the number of objects. The test counts every
// allocation, so that the count includes buffers that grow.
func TestMemoryOfAReview(t *testing.T) {
	const size, objects, most = 3 << 19, 8, 12
	handler := conversion.Handler(logr.Discard())
	ones := strings.Repeat("1,", size/2)
	for name, object := range map[string]string{
		"a list that is copied":         large("a", size),
		"settings of a provider":        strings.Replace(older("a"), `"server":{`, `"server":{"providers":{"inference":[{"settings":{"x":[`+ones+`1]}}]},`, 1),
		"a configuration of a provider": strings.Replace(older("a"), `"server":{`, `"server":{"providers":{"inference":{"config":{"x":[`+ones+`1]}}},`, 1),
		"an unknown field":              strings.Replace(older("a"), `"server":{`, `"unknown":[`+ones+`1],"server":{`, 1),
		"metadata":                      strings.Replace(older("a"), `"uid"`, `"labels":{`+numbered(size/12)+`"a":"b"},"uid"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodPost, "/convert", strings.NewReader(many(object, objects)))
			request.Header.Set("Content-Type", "application/json")
			to := &lastWrite{header: http.Header{}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			handler.ServeHTTP(to, request)
			runtime.ReadMemStats(&after)
			if !strings.HasSuffix(to.last, `"status":"Success"}}}`) {
				t.Fatalf("the answer ends with %s", to.last)
			}
			times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(object))
			t.Logf("allocated %.1f times the bytes of an object", times)
			if times > most {
				t.Errorf("%d objects: allocated %.1f times the bytes of one", objects, times)
			}
		})
	}
}

// TestMemoryOfManyEntries checks that a review with very many short entries takes little memory. Any pod can send one.
func TestMemoryOfManyEntries(t *testing.T) {
	const size, most = 1 << 20, 40
	objects := strings.Repeat("{},", size/3) + "{}"
	for name, content := range map[string]string{
		"providers of a server": `"spec":{},"status":{"distributionConfig":{"providers":[` + objects + `]}}`,
		"conditions":            `"spec":{},"status":{"conditions":[` + objects + `]}`,
		"providers":             `"spec":{"providers":{"inference":[` + objects + `]}}`,
		"APIs":                  `"spec":{"providers":{` + numbered(size/12) + `"a":{}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for version, to := range map[string]string{"v1alpha1": "v1alpha2", "v1alpha2": "v1alpha1"} {
				object := fmt.Sprintf(`{"apiVersion":"llamastack.io/%s","kind":"LlamaStackDistribution","metadata":{"name":"a"},%s}`,
					version, content)
				review := fmt.Sprintf(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":`+
					`{"uid":"u","desiredAPIVersion":"llamastack.io/%s","objects":[%s]}}`, to, object)
				request := httptest.NewRequest(http.MethodPost, "/convert", strings.NewReader(review))
				request.Header.Set("Content-Type", "application/json")
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				answer := &lastWrite{header: http.Header{}}
				conversion.Handler(logr.Discard()).ServeHTTP(answer, request)
				runtime.ReadMemStats(&after)
				times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(review))
				if times > most || !strings.HasSuffix(answer.last, `"status":"Success"}}}`) {
					t.Errorf("to %s: allocated %.0f times the bytes of the review: %s", to, times, answer.last)
				}
			}
		})
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"l%d":"v",`, i)
	}
	return b.String()
}

// lastWrite is the writer of a response. It keeps only the end of the last write.
type lastWrite struct {
	header http.Header
	last   string
}

func (c *lastWrite) Header() http.Header     { return c.header }
func (c *lastWrite) WriteHeader(int)         {}
func (c *lastWrite) EnableFullDuplex() error { return nil }
func (c *lastWrite) Write(data []byte) (int, error) {
	c.last = string(data[max(0, len(data)-200):])
	return len(data), nil
}
