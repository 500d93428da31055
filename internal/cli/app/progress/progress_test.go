package progress_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/progress"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestLine(t *testing.T) {
	var terminal bytes.Buffer
	line := progress.New(&terminal)
	line.Clear()
	line.Show("%d of %d", 1, 2)
	line.Show("%s", strings.Repeat("ä", 80))
	line.Clear()
	line.Clear()
	want := "\r\x1b[K1 of 2\r\x1b[K" + strings.Repeat("ä", 58) + "…\r\x1b[K"
	if got := terminal.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	none := progress.New(nil)
	none.Show("not shown")
	none.Clear()
}

// roundTripper reads the body of a request as a registry does.
type roundTripper struct{ read int64 }

func (r *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		r.read, _ = io.Copy(io.Discard, request.Body)
	}
	return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody}, nil
}

func TestSent(t *testing.T) {
	var reports []int64
	inner := &roundTripper{}
	sent := progress.NewSent(inner, func(n int64) { reports = append(reports, n) })
	for _, size := range []int{0, 100, 3 << 20} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://registry/blob",
			strings.NewReader(strings.Repeat("x", size)))
		testutil.Must(t, err)
		response, err := sent.RoundTrip(request)
		testutil.Must(t, err)
		_ = response.Body.Close()
		if inner.read != int64(size) {
			t.Errorf("sent %d of %d bytes", inner.read, size)
		}
	}
	if len(reports) != 3 || reports[0] < 1<<20 || !slices.IsSorted(reports) || reports[2] > 100+3<<20 {
		t.Errorf("observed %v", reports)
	}
	sent.Reset()
}
