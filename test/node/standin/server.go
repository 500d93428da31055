package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// insecureArgument is the argument for plain HTTP. The operator passes it if the server otherwise requires TLS.
	insecureArgument = "--insecure"
	// ownConfig is the path of the configuration in the image.
	ownConfig = "/app/config.yaml"
	// defaultPort is the port of the server if no port is configured.
	defaultPort = "8321"
	// upstreamTimeout is the time limit for a model server's response. On a busy node, a lost DNS query alone takes 5 s.
	upstreamTimeout = time.Minute
	// upstreamTries is the number of attempts to reach a model server, as the real server's OpenAI client makes them.
	upstreamTries = 3
)

// server implements the part of the API that the operator and its users call first.
type server struct {
	version string
	config  *config
	client  *http.Client
	stderr  io.Writer
}

// runServer runs the server until ctx is done, unless a fault prevents its start. It returns the exit code.
func runServer(ctx context.Context, w world) int {
	faults, err := readFaults(w)
	if err != nil {
		fmt.Fprintln(w.stderr, err)
		return exitUsage
	}
	if code, ends := faults.beforeStart(ctx, w); ends {
		return code
	}
	config, err := readConfig(cmp.Or(w.getenv("RUN_CONFIG_PATH"), ownConfig), w.getenv)
	if err != nil {
		fmt.Fprintf(w.stderr, "standin: %v\n", err)
		return exitFailed
	}
	s := &server{
		version: w.getenv("STANDIN_VERSION"), config: config, stderr: w.stderr,
		client: &http.Client{Timeout: upstreamTimeout},
	}
	port := cmp.Or(w.getenv("LLAMA_STACK_PORT"), w.getenv("OGX_PORT"), config.Server.Port, defaultPort)
	if err := serve(ctx, w, port, faults.hanging(s.handler()), config.Server); err != nil {
		fmt.Fprintf(w.stderr, "standin: %v\n", err)
		return exitFailed
	}
	return 0
}

// serve listens on a port on all addresses until ctx is done. If there is a certificate, it serves HTTPS.
func serve(ctx context.Context, w world, port string, handler http.Handler, files serverConfig) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+port)
	if err != nil {
		return fmt.Errorf("listen on port %s: %w", port, err)
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: upstreamTimeout}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })() // Serve then returns ErrServerClosed
	fmt.Fprintf(w.stdout, "standin: listening on %s\n", listener.Addr())
	if files.Certificate != "" {
		err = s.ServeTLS(listener, files.Certificate, files.Key)
	} else {
		err = s.Serve(listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve on port %s: %w", port, err)
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for path, value := range map[string]any{
		"/v1/health":         map[string]any{"status": "OK"},
		"/v1/version":        map[string]any{"version": s.version},
		"/v1/providers":      list(s.config.providers()),
		"/v1/models":         list(s.config.models()),
		"/v1beta/connectors": list(append([]map[string]any{}, s.config.Connectors...)),
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { answer(w, value) })
	}
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	return mux
}

func list(entries any) map[string]any { return map[string]any{"object": "list", "data": entries} }

// chat forwards a request to the model server of the model's provider, with the provider's credentials.
func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	var request map[string]any
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, "the request is not JSON", http.StatusBadRequest)
		return
	}
	model, _ := request["model"].(string)
	id, name, _ := strings.Cut(model, "/")
	found := s.config.provider("inference", id)
	if found == nil {
		http.Error(w, fmt.Sprintf("no model %q", model), http.StatusNotFound)
		return
	}
	request["model"] = name
	if err := s.forward(r.Context(), w, found, request); err != nil {
		fmt.Fprintf(s.stderr, "standin: %v\n", err)
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (s *server) forward(ctx context.Context, w http.ResponseWriter, to *provider, request map[string]any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	upstream, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url()+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	upstream.Header.Set("Content-Type", "application/json")
	upstream.Header.Set("Authorization", "Bearer "+to.token())
	response, err := s.client.Do(upstream)
	for tries := 1; err != nil && tries < upstreamTries && ctx.Err() == nil; tries++ {
		fmt.Fprintf(s.stderr, "standin: attempt %d: %v\n", tries, err)
		upstream.Body = io.NopCloser(bytes.NewReader(body))
		response, err = s.client.Do(upstream)
	}
	if err != nil {
		return fmt.Errorf("send a request to the model server: %w", err)
	}
	defer response.Body.Close()
	w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
	w.WriteHeader(response.StatusCode)
	if _, err := io.Copy(flushing{w}, response.Body); err != nil {
		return fmt.Errorf("forward the response: %w", err)
	}
	return nil
}

// flushing is a writer that sends each part of a response immediately, as a streamed response requires.
type flushing struct{ http.ResponseWriter }

// Write writes a part of the response and sends it.
func (f flushing) Write(part []byte) (int, error) {
	n, err := f.ResponseWriter.Write(part)
	if err == nil {
		err = http.NewResponseController(f.ResponseWriter).Flush()
	}
	return n, err
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a client that disconnects is not a server error
}
