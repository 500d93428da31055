package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Server is a model server. It answers requests for any model. Set its fields before the first request.
type Server struct {
	// Token is the token that clients must send. If it is empty, clients need none.
	Token string
	// Listed returns the names of the models in the list of models.
	Listed func() []string
	// Answer returns the answer to the messages in a request. A stream has one event for each word of it.
	Answer func(model string, messages json.RawMessage) string
	// Pause is the time before each event of a stream.
	Pause time.Duration
	// Dimension is the number of values in the vector for a text.
	Dimension int
	// Observe, if set, is called for each accepted request. The model is empty for a list.
	Observe func(r *http.Request, model string)
	// Streams, if set, is called with the ID of each stream before its first event.
	Streams func(id string)

	// answered is the number of completions. The ID of each completion contains this number, because a server stores only
	// one completion per ID.
	answered atomic.Int64
}

// Handler returns the paths of the server below /v1.
func (s *Server) Handler() http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/models", s.models)
	api.HandleFunc("POST /v1/chat/completions", s.chat)
	api.HandleFunc("POST /v1/embeddings", s.embed)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
			http.Error(w, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
			return
		}
		api.ServeHTTP(w, r)
	})
}

func (s *Server) observe(r *http.Request, model string) {
	if s.Observe != nil {
		s.Observe(r, model)
	}
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	s.observe(r, "")
	entries := []any{}
	for _, id := range s.Listed() {
		entries = append(entries, object{"id": id, "object": "model", "created": 1, "owned_by": "vllm"})
	}
	write(w, object{"object": "list", "data": entries})
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		Messages json.RawMessage `json:"messages"`
	}
	if !read(w, r, &request) {
		return
	}
	s.observe(r, request.Model)
	id, content := fmt.Sprintf("chatcmpl-%d", s.answered.Add(1)), s.Answer(request.Model, request.Messages)
	if request.Stream {
		s.stream(r.Context(), w, object{
			"id": id, "object": "chat.completion.chunk", "created": 1, "model": request.Model,
		}, content)
		return
	}
	write(w, object{
		"id": id, "object": "chat.completion", "created": 1, "model": request.Model,
		"choices": []any{object{
			"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": content},
		}},
		"usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
}

// stream sends one event for each word of a text. The choice of each event is added to the chunk.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, chunk object, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if s.Streams != nil {
		s.Streams(fmt.Sprint(chunk["id"]))
	}
	words := strings.SplitAfter(text, " ")
	for i, word := range words {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.Pause):
		}
		choice := object{"index": 0, "delta": object{"role": "assistant", "content": word}, "finish_reason": nil}
		if i == len(words)-1 {
			choice["finish_reason"] = "stop"
		}
		chunk["choices"] = []any{choice}
		event, err := json.Marshal(chunk)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", event)
		_ = http.NewResponseController(w).Flush() // if the client has disconnected, ctx is done
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

type object = map[string]any

// read decodes a request, or answers that it cannot.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		http.Error(w, fmt.Sprintf("read request: %v", err), http.StatusBadRequest)
		return false
	}
	return true
}

func write(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a client that disconnects does not need the answer
}
