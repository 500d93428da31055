package conversion

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
)

// Large reviews wait for each other and do not block small ones.
func TestLargeReviewsWait(t *testing.T) {
	h, ok := Handler(logr.Discard()).(*handler)
	if !ok {
		t.Fatal("the handler has an unexpected type")
	}
	request := func(ctx context.Context, size int64) *http.Request {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/convert", strings.NewReader(""))
		r.ContentLength = size
		return r
	}
	ended, end := context.WithCancel(t.Context())
	end()
	var leave func()
	for range largeReviews {
		var err error
		if leave, err = h.enter(request(t.Context(), 300<<20)); err != nil {
			t.Fatal(err)
		}
	}
	for name, size := range map[string]int64{"a large review": smallReview + 1, "a review of unknown size": -1} {
		if _, err := h.enter(request(ended, size)); err == nil {
			t.Errorf("%s does not wait", name)
		}
	}
	if leaveSmall, err := h.enter(request(t.Context(), smallReview)); err != nil {
		t.Errorf("an ordinary review waits: %v", err)
	} else {
		leaveSmall()
	}
	leave()
	if _, err := h.enter(request(t.Context(), 300<<20)); err != nil {
		t.Errorf("the next large review still waits: %v", err)
	}
}

// deadlined records the deadlines that a handler sets.
type deadlined struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (d *deadlined) SetReadDeadline(at time.Time) error {
	d.read = append(d.read, at)
	return nil
}

func (d *deadlined) SetWriteDeadline(at time.Time) error {
	d.write = append(d.write, at)
	return nil
}

// The handler sets deadlines for the body and the response, extends them for a large body, and finally removes them.
func TestDeadlines(t *testing.T) {
	to := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	body := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","x":"` + strings.Repeat("x", 4*slowest) + `"}`
	request := httptest.NewRequest(http.MethodPost, "/convert", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	began := time.Now()
	Handler(logr.Discard()).ServeHTTP(to, request)
	for name, set := range map[string][]time.Time{"read": to.read, "write": to.write} {
		if len(set) < 3 || !set[len(set)-1].IsZero() {
			t.Fatalf("%s: %v", name, set)
		}
		if first := set[0].Sub(began); first < grace || first > 2*grace {
			t.Errorf("%s: the first deadline is after %v", name, first)
		}
		if longer := set[len(set)-2].Sub(set[0]); longer < 3*time.Second || longer > 5*time.Second {
			t.Errorf("%s: 4 MiB extend the deadline by %v", name, longer)
		}
	}
}

// After a request is canceled, the handler converts at most one more object.
func TestConversionEndsWithItsRequest(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	const object = `{"apiVersion":"llamastack.io/v1alpha1","kind":"LlamaStackDistribution","metadata":{"name":"a"}}`
	body := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u",` +
		`"desiredAPIVersion":"llamastack.io/v1alpha2","objects":[` + object + `,` + object + `]}}`
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/convert", strings.NewReader(body))
	recorder := httptest.NewRecorder()
	v := newReview(recorder, request)
	end()
	v.read()
	if v.failure == nil || v.answer.objects != 1 {
		t.Errorf("failure %v after %d objects", v.failure, v.answer.objects)
	}
}
