package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/modelserver"
)

// completion is the answer from every model that is not a guard model.
const completion = "hello from the model"

// runModelServer implements the part of the OpenAI API that inference providers need. If $VLLM_API_KEY is set, the
// server requires this token, as vLLM does. $VLLM_MODELS lists the models, separated by commas. $VLLM_PAUSE is the time
// before each word of a streamed answer, for example 2s. $VLLM_DIMENSION is the length of embedding vectors. A model
// whose name contains "guard" answers as Llama Guard does.
func runModelServer(ctx context.Context, w world, _ []string) error {
	listed := strings.Split(cmp.Or(w.getenv("VLLM_MODELS"), "llama3.2-8b"), ",")
	m := &modelserver.Server{
		Token: w.getenv("VLLM_API_KEY"), Answer: answerOf, Listed: func() []string { return listed },
		Streams: func(id string) { fmt.Fprintf(w.stdout, "streams %s\n", id) },
	}
	var err error
	if pause := w.getenv("VLLM_PAUSE"); pause != "" {
		if m.Pause, err = time.ParseDuration(pause); err != nil {
			return fmt.Errorf("read $VLLM_PAUSE: %w", err)
		}
	}
	if m.Dimension, err = strconv.Atoi(cmp.Or(w.getenv("VLLM_DIMENSION"), "8")); err != nil {
		return fmt.Errorf("read $VLLM_DIMENSION: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Ollama is running") })
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/v1/", m.Handler())
	return serve(ctx, w, cmp.Or(w.getenv("PORT"), "8000"), mux, serverConfig{})
}

// answerOf returns the completion, or Llama Guard's answer to messages: the category of an unsafe request, or "safe".
func answerOf(model string, messages json.RawMessage) string {
	switch {
	case !strings.Contains(model, "guard"):
		return completion
	case strings.Contains(string(messages), "bomb"):
		return "unsafe\nS1"
	default:
		return "safe"
	}
}
