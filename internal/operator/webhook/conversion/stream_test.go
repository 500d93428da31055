package conversion_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
)

// large returns an object of approximately the given size in bytes. The object contains a list that conversion copies.
func large(name string, size int) string {
	return strings.Replace(older(name), `"server":{`, `"server":{"containerSpec":{"args":["`+strings.Repeat(`x","`,
		size/4)+`x"]},`, 1)
}

// repeated is a reader of a review that contains one object many times. The whole review is never in memory.
type repeated struct {
	head, object, tail string
	times              int
	rest               io.Reader
}

func (r *repeated) size() int64 {
	return int64(len(r.head) + r.times*(len(r.object)+1) - 1 + len(r.tail))
}

func (r *repeated) Read(data []byte) (int, error) {
	for {
		if r.rest == nil {
			r.rest = strings.NewReader(r.head)
		}
		n, err := r.rest.Read(data)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		switch {
		case r.times > 1:
			r.rest = io.MultiReader(strings.NewReader(r.object), strings.NewReader(","))
		case r.times == 1:
			r.rest = strings.NewReader(r.object)
		case r.times == 0:
			r.rest = strings.NewReader(r.tail)
		default:
			return 0, io.EOF
		}
		r.times--
	}
}

// many returns a review that contains one object the given number of times.
func many(object string, times int) *repeated {
	head, tail, _ := strings.Cut(reviewOf(v2, "*"), "*")
	return &repeated{head: head, object: object, tail: tail, times: times}
}

// outcome is a decoded response, in which objects are only counted.
type outcome struct {
	objects, bytes  int
	status, message string
}

// stream sends a review in the same way as an API server, over HTTP/1.1 with a content length, and reads the response
// while it sends the review.
func stream(t testing.TB, server *httptest.Server, body io.Reader, size int64) outcome {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = size
	request.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.ProtoMajor != 1 || response.StatusCode != http.StatusOK {
		t.Fatalf("%s, %s", response.Proto, response.Status)
	}
	return readOutcome(t, response.Body)
}

// readOutcome reads a response, one object at a time.
func readOutcome(t testing.TB, body io.Reader) outcome {
	t.Helper()
	decoder := json.NewDecoder(bufio.NewReaderSize(body, 64<<10))
	var got outcome
	for {
		token, err := decoder.Token()
		if err != nil {
			t.Fatalf("the answer ends with %v", err)
		}
		if token == "convertedObjects" {
			break
		}
	}
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	var object json.RawMessage
	for decoder.More() {
		object = object[:0]
		if err := decoder.Decode(&object); err != nil {
			t.Fatalf("object %d: %v", got.objects, err)
		}
		got.objects++
		got.bytes += len(object)
	}
	var rest [3]json.Token // ] result {
	for i := range rest {
		rest[i], _ = decoder.Token()
	}
	if rest[1] != "result" {
		t.Fatalf("the tokens after the objects are %v", rest)
	}
	fields := make(map[string]json.RawMessage)
	for decoder.More() {
		key, _ := decoder.Token()
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		fields[fmt.Sprint(key)] = value
	}
	_ = json.Unmarshal(fields["status"], &got.status)
	_ = json.Unmarshal(fields["message"], &got.message)
	if tail, err := io.ReadAll(decoder.Buffered()); err != nil || string(tail) != "}}}" {
		t.Errorf("the answer ends with %q, %v", tail, err)
	}
	return got
}

// The handler converts a list of large objects for a client that sends the review as a stream.
func TestStreams(t *testing.T) {
	server := serve(t)
	body := many(large("a", 3<<19), 10)
	got := stream(t, server, body, body.size())
	if got.objects != 10 || got.status != "Success" || got.bytes < 10*3<<19 {
		t.Errorf("got %+v", got)
	}
	// The review does not affect the next one on the same connection.
	if again := post(t, server, strings.NewReader(reviewOf(v2, older("a")))); again.Response.Result.Status != "Success" {
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
			body := many(large("a", 3<<20), 4)
			body.tail = c.tail
			got := stream(t, server, body, body.size())
			if got.objects != 4 || got.status != "Failure" || !strings.Contains(got.message, c.want) {
				t.Errorf("%d objects, %s: %q; want %q", got.objects, got.status, got.message, c.want)
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
			body := many(object, objects)
			request := httptest.NewRequest(http.MethodPost, "/convert", body)
			request.ContentLength = body.size()
			request.Header.Set("Content-Type", "application/json")
			to := &counter{header: http.Header{}}
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
				answer := &counter{header: http.Header{}}
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

// counter counts the bytes of a response, and keeps only the end of the last write.
type counter struct {
	header http.Header
	bytes  int
	last   string
}

func (c *counter) Header() http.Header     { return c.header }
func (c *counter) WriteHeader(int)         {}
func (c *counter) EnableFullDuplex() error { return nil }
func (c *counter) Write(data []byte) (int, error) {
	c.bytes += len(data)
	c.last = string(data[max(0, len(data)-200):])
	return len(data), nil
}
