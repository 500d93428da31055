//go:build server

package boot

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// upstream is a model server with the part of the OpenAI API that an inference provider needs. It answers requests for
// any model, and records the path, the model and the Authorization header of each request.
type upstream struct {
	url string

	mu       sync.Mutex
	listed   []string
	requests []upstreamRequest
	// answered is the number of chats. Each answer has its own ID, because a server stores one chat per ID.
	answered atomic.Int32
}

type upstreamRequest struct {
	path          string
	authorization string
	model         string
}

func startUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{listed: []string{autoListed}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", u.models)
	mux.HandleFunc("POST /v1/chat/completions", u.chat)
	mux.HandleFunc("POST /v1/embeddings", u.embeddings)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	u.url = server.URL
	return u
}

func (u *upstream) models(w http.ResponseWriter, r *http.Request) {
	u.record(r, "")
	u.mu.Lock()
	defer u.mu.Unlock()
	var models []any
	for _, id := range u.listed {
		models = append(models, map[string]any{"id": id, "object": "model", "created": 1, "owned_by": "fake"})
	}
	writeJSON(w, map[string]any{"object": "list", "data": models})
}

// serve adds a model to the model server's list, because some providers do not register a model that is not in the
// list.
func (u *upstream) serve(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.listed = append(u.listed, id)
}

func (u *upstream) chat(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model string `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u.record(r, request.Model)
	writeJSON(w, map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", u.answered.Add(1)), "object": "chat.completion", "created": 1,
		"model": request.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": answer},
		}},
		"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
}

// dimension is the number of values in each vector of this model server.
const dimension = 8

// embeddings responds with a vector for each text. Equal texts have equal vectors.
func (u *upstream) embeddings(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string          `json:"model"`
		Input    json.RawMessage `json:"input"`
		Encoding string          `json:"encoding_format"`
	}
	var texts []string
	err := json.NewDecoder(r.Body).Decode(&request)
	if err == nil && json.Unmarshal(request.Input, &texts) != nil {
		texts = []string{""}
		err = json.Unmarshal(request.Input, &texts[0])
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u.record(r, request.Model)
	data := make([]any, 0, len(texts))
	for i, text := range texts {
		vector := vectorOf(text)
		var written any = vector
		if request.Encoding == "base64" {
			written = floats(vector)
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": written})
	}
	writeJSON(w, map[string]any{
		"object": "list", "data": data, "model": request.Model,
		"usage": map[string]any{"prompt_tokens": 1, "total_tokens": 1},
	})
}

// vectorOf returns the vector for a text. Its Euclidean norm is one.
func vectorOf(text string) []float32 {
	sum := sha256.Sum256([]byte(text))
	var square float64
	vector := make([]float32, dimension)
	for i := range vector {
		vector[i] = 1 + float32(sum[i])
		square += float64(vector[i]) * float64(vector[i])
	}
	for i := range vector {
		vector[i] /= float32(math.Sqrt(square))
	}
	return vector
}

// floats writes a vector in base64, as the OpenAI API does.
func floats(vector []float32) string {
	var data []byte
	for _, value := range vector {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(value))
	}
	return base64.StdEncoding.EncodeToString(data)
}

// autoListed is a model that the model server lists, but that no object declares at first.
const autoListed = "auto-listed"

// answer is the answer that every model returns.
const answer = "hello from upstream"

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
