package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// completion is the answer from every model that is not a guard model.
const completion = "hello from the model"

// runModelServer implements the part of the OpenAI API that inference providers need. If $VLLM_API_KEY is set, the
// server requires this token, as vLLM does. $VLLM_MODELS lists the models, separated by commas. $VLLM_PAUSE is the time
// before each word of a streamed answer, for example 2s. $VLLM_DIMENSION is the length of embedding vectors. A model
// whose name contains "guard" answers as Llama Guard does.
func runModelServer(ctx context.Context, w world, _ []string) error {
	m := &modelServer{log: w.stdout, token: w.getenv("VLLM_API_KEY"), listed: strings.Split(cmp.Or(w.getenv("VLLM_MODELS"), "llama3.2-8b"), ",")}
	var err error
	if pause := w.getenv("VLLM_PAUSE"); pause != "" {
		if m.pause, err = time.ParseDuration(pause); err != nil {
			return fmt.Errorf("read $VLLM_PAUSE: %w", err)
		}
	}
	if m.dimension, err = strconv.Atoi(cmp.Or(w.getenv("VLLM_DIMENSION"), "8")); err != nil {
		return fmt.Errorf("read $VLLM_DIMENSION: %w", err)
	}
	return serve(ctx, w, cmp.Or(w.getenv("PORT"), "8000"), m.handler(), serverConfig{})
}

type modelServer struct {
	token  string
	listed []string
	pause  time.Duration
	log    io.Writer
	// dimension is the length of the vector for a text.
	dimension int
	// answered is the number of completions. The ID of each completion contains this number, because a server stores only
	// one completion per ID.
	answered atomic.Int64
}

func (m *modelServer) handler() http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/models", m.models)
	api.HandleFunc("POST /v1/chat/completions", m.chat)
	api.HandleFunc("POST /v1/embeddings", m.embed)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Ollama is running") })
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		if m.token != "" && r.Header.Get("Authorization") != "Bearer "+m.token {
			http.Error(w, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
			return
		}
		api.ServeHTTP(w, r)
	})
	return mux
}

func (m *modelServer) models(w http.ResponseWriter, _ *http.Request) {
	var entries []any
	for _, id := range m.listed {
		entries = append(entries, map[string]any{"id": id, "object": "model", "created": 1, "owned_by": "vllm"})
	}
	answer(w, list(entries))
}

func (m *modelServer) chat(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, fmt.Sprintf("read request: %v", err), http.StatusBadRequest)
		return
	}
	if request.Stream {
		m.stream(r.Context(), w, request.Model)
		return
	}
	content := completion
	if strings.Contains(request.Model, "guard") {
		content = verdict(string(request.Messages))
	}
	answer(w, map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", m.answered.Add(1)), "object": "chat.completion", "created": 1,
		"model": request.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": content},
		}},
		"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	})
}

// stream answers with one event for each word of the completion, and pauses before each event.
func (m *modelServer) stream(ctx context.Context, w http.ResponseWriter, model string) {
	w.Header().Set("Content-Type", "text/event-stream")
	id := fmt.Sprintf("chatcmpl-%d", m.answered.Add(1))
	fmt.Fprintf(m.log, "streams %s\n", id)
	words := strings.SplitAfter(completion, " ")
	for i, word := range words {
		select {
		case <-ctx.Done():
			return
		case <-time.After(m.pause):
		}
		choice := map[string]any{
			"index": 0, "delta": map[string]any{"role": "assistant", "content": word},
			"finish_reason": nil,
		}
		if i == len(words)-1 {
			choice["finish_reason"] = "stop"
		}
		event, err := json.Marshal(map[string]any{
			"id": id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": []any{choice},
		})
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", event)
		_ = http.NewResponseController(w).Flush() // if the client has disconnected, ctx is done
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// verdict returns Llama Guard's answer to messages: the category of an unsafe request, or "safe".
func verdict(messages string) string {
	if strings.Contains(messages, "bomb") {
		return "unsafe\nS1"
	}
	return "safe"
}

// vector returns a vector that depends only on the text, so that equal texts have equal vectors.
func vector(text string, dimension int) []float64 {
	digest := sha256.Sum256([]byte(text))
	numbers := make([]float64, dimension)
	for i := range numbers {
		if i > 0 && i%len(digest) == 0 {
			digest = sha256.Sum256(digest[:])
		}
		numbers[i] = (float64(digest[i%len(digest)]) - 127.5) / 127.5
	}
	return numbers
}

// texts is the input to embed. In JSON, it is one string or a list of strings.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

func (m *modelServer) embed(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model string `json:"model"`
		Input texts  `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, fmt.Sprintf("read request: %v", err), http.StatusBadRequest)
		return
	}
	entries := []any{}
	for i, text := range request.Input {
		entries = append(entries, map[string]any{"object": "embedding", "index": i, "embedding": vector(text, m.dimension)})
	}
	answer(w, map[string]any{
		"object": "list", "data": entries, "model": request.Model,
		"usage": map[string]any{"prompt_tokens": 1, "total_tokens": 1},
	})
}
