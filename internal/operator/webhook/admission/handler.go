package admission

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/intake"
)

// maxReview is the maximum size of an AdmissionReview in bytes. etcd stores objects of up to 1.5 MiB by default, and a
// review can contain two of them.
const maxReview = 4 << 20

// limits bound the memory: the bodies in memory, and those that are checked at the same time. Checking a review with
// two specs of the maximum size takes about seventy times the bytes of a spec.
var limits = intake.Limits{Held: 16 << 20, Worked: 1 << 20}

// Handler serves the reviews that `next` answers, for clients that are not authenticated. It reads a review before it
// takes a place among the checked ones, and sends the response after it has left this place.
func Handler(next http.Handler) http.Handler {
	pool := intake.New(limits)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchange := pool.Open(w, r)
		defer exchange.Close()
		body, whole, err := exchange.Body(r.Context(), maxReview)
		switch {
		case err != nil:
			exchange.Refuse(r.Context(), w, err)
			return
		case !whole:
			w.Header().Set("Connection", "close")
			http.Error(w, fmt.Sprintf("a review can have at most %d bytes", maxReview), http.StatusRequestEntityTooLarge)
			return
		}
		leave, err := pool.Work(r.Context(), len(body))
		if err != nil {
			exchange.Refuse(r.Context(), w, err)
			return
		}
		answer := &answered{header: w.Header()}
		ctx, cancel := context.WithTimeout(r.Context(), timeFor(r))
		defer cancel()
		leave = sync.OnceFunc(leave)
		r = r.WithContext(context.WithValue(ctx, leaveKey{}, leave))
		r.Body = io.NopCloser(bytes.NewReader(body))
		func() {
			defer leave()
			next.ServeHTTP(answer, r)
		}()
		if answer.code != 0 {
			w.WriteHeader(answer.code)
		}
		_, _ = exchange.Write(answer.body.Bytes()) // the client may no longer wait
	})
}

// leaveKey is the key of the function with which a request leaves its place among the checked ones.
type leaveKey struct{}

// leave leaves the place among the checked requests before the response, so that other requests do not wait while this
// one waits for the API server.
func leave(ctx context.Context) {
	if leave, ok := ctx.Value(leaveKey{}).(func()); ok {
		leave()
	}
}

const (
	// usualTimeout is the timeoutSeconds of the webhook's configuration.
	usualTimeout = 5 * time.Second
	// maxTimeout is the longest timeoutSeconds that the API server supports.
	maxTimeout = 30 * time.Second
)

// timeFor returns three quarters of the time for which the API server waits. If the API server received no response, it
// would store the stack without the other checks.
func timeFor(r *http.Request) time.Duration {
	limit, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || limit <= 0 {
		limit = usualTimeout
	}
	return min(limit, maxTimeout) * 3 / 4
}

// answered is a response in memory.
type answered struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (a *answered) Header() http.Header            { return a.header }
func (a *answered) WriteHeader(code int)           { a.code = code }
func (a *answered) Write(data []byte) (int, error) { return a.body.Write(data) }
