//go:build server

package boot

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/modelserver"
)

// upstream is a model server. It records the path, the model and the Authorization header of each request.
type upstream struct {
	url string

	mu       sync.Mutex
	listed   []string
	requests []upstreamRequest
}

type upstreamRequest struct {
	path          string
	authorization string
	model         string
}

const (
	// dimension is the number of values in each vector of this model server.
	dimension = 8
	// autoListed is a model that the model server lists, but that no object declares at first.
	autoListed = "auto-listed"
	// answer is the answer that every model returns.
	answer = "hello from upstream"
)

func startUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{listed: []string{autoListed}}
	models := &modelserver.Server{
		Listed: u.models, Answer: func(string, json.RawMessage) string { return answer },
		Dimension: dimension, Observe: u.record,
	}
	server := httptest.NewServer(models.Handler())
	t.Cleanup(server.Close)
	u.url = server.URL
	return u
}

func (u *upstream) models() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.listed)
}

// serve adds a model to the model server's list, because some providers do not register a model that is not in the
// list.
func (u *upstream) serve(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.listed = append(u.listed, id)
}

func (u *upstream) record(r *http.Request, model string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests = append(u.requests, upstreamRequest{
		path: r.URL.Path, authorization: r.Header.Get("Authorization"), model: model,
	})
}

// chats returns the Authorization headers of the chat requests for a model.
func (u *upstream) chats(model string) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var headers []string
	for _, request := range u.requests {
		if strings.HasSuffix(request.path, "/chat/completions") && request.model == model {
			headers = append(headers, request.authorization)
		}
	}
	return slices.Clip(headers)
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	// If a client disconnects, the test of the client fails, so the error is ignored.
	_ = json.NewEncoder(w).Encode(value)
}
