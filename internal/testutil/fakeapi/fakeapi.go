package fakeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// Server is an API server that returns the responses that a test sets.
type Server struct {
	// Kubeconfig is the path of a kubeconfig file that selects the server and the namespace "team-a".
	Kubeconfig string

	mu       sync.Mutex
	answers  map[string]answer
	forwards map[string]string
	// webSocket reports whether the server accepts a WebSocket for forwarded ports.
	webSocket bool
	live      map[string][]httpstream.Connection
	requests  []string
}

type answer struct {
	code        int
	contentType string
	body        []byte
}

// Start starts a server that stops at the end of the test.
func Start(t *testing.T) *Server {
	t.Helper()
	s := &Server{answers: map[string]answer{}, forwards: map[string]string{}, live: map[string][]httpstream.Connection{}}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		for pod := range s.forwards {
			s.Cut(pod)
		}
	})
	s.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: %q}}]
contexts: [{name: here, context: {cluster: here, user: me, namespace: team-a}}]
users: [{name: me, user: {token: t}}]
`, server.URL)
	if err := os.WriteFile(s.Kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Put(t, "/version", map[string]string{"major": "1", "minor": "37", "gitVersion": "v1.37.0"})
	return s
}

// Put sets the response to requests for a path: plain text if `value` is a string, and otherwise `value` as JSON.
func (s *Server) Put(t *testing.T, path string, value any) {
	t.Helper()
	a := answer{code: http.StatusOK, contentType: "application/json"}
	if text, is := value.(string); is {
		a.contentType, a.body = "text/plain", []byte(text)
	} else {
		var err error
		if a.body, err = json.Marshal(value); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = a
}

// PutList sets the response to requests for a path to a list of objects.
func (s *Server) PutList(t *testing.T, path, apiVersion, kind string, items ...any) {
	t.Helper()
	if items == nil {
		items = []any{}
	}
	s.Put(t, path, map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{}, "items": items})
}

// Deny makes the server reject requests for a path, as an API server rejects a caller without the permission.
func (s *Server) Deny(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = refusal(http.StatusForbidden, "Forbidden", "forbidden: the user cannot get this path")
}

// Forward forwards the ports of a pod, named namespace/name, to an address.
func (s *Server) Forward(pod, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forwards[pod] = address
}

// ForwardByWebSocket makes the server forward ports through a WebSocket, as API servers do from Kubernetes 1.31 on.
func (s *Server) ForwardByWebSocket() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webSocket = true
}

// Cut closes the connections that forward a pod's ports.
func (s *Server) Cut(pod string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, connection := range s.live[pod] {
		_ = connection.Close()
	}
	delete(s.live, pod)
}

// Requests returns the method and the URI of each request, sorted.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.requests))
}

// Paths returns the paths whose responses were set with Put, PutList or Deny, sorted.
func (s *Server) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.answers))
}

func refusal(code int, reason, message string) answer {
	body, _ := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
	})
	return answer{code, "application/json", body}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	found, known := s.answers[r.URL.Path]
	webSocket := s.webSocket
	s.mu.Unlock()
	switch rest, is := strings.CutSuffix(r.URL.Path, "/portforward"); {
	case r.URL.Query().Get("dryRun") != "":
		w.Header().Set("Content-Type", "application/json")
		sent, _ := io.ReadAll(r.Body)
		_, _ = w.Write(sent)
	case known:
		w.Header().Set("Content-Type", found.contentType)
		w.WriteHeader(found.code)
		_, _ = w.Write(found.body)
	case is && (r.Method == http.MethodPost || webSocket):
		s.forward(w, r, rest)
	case is: // this is the response of an API server that does not forward ports through a WebSocket
		http.Error(w, "unable to upgrade connection", http.StatusBadRequest)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":true}}`)
	default:
		missing := refusal(http.StatusNotFound, "NotFound", "not found")
		w.Header().Set("Content-Type", missing.contentType)
		w.WriteHeader(missing.code)
		_, _ = w.Write(missing.body)
	}
}

// forward connects each data stream to the address of the pod, and closes each error stream.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, path string) {
	parts := strings.Split(strings.Trim(path, "/"), "/") // api v1 namespaces NAMESPACE pods NAME
	pod := parts[3] + "/" + parts[5]
	s.mu.Lock()
	to, known := s.forwards[pod]
	s.mu.Unlock()
	if !known {
		http.Error(w, "no such pod", http.StatusNotFound)
		return
	}
	connection := upgrade(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
			go stream.Close()
			return nil
		}
		go pipe(stream, to)
		return nil
	})
	if connection == nil {
		return
	}
	s.mu.Lock()
	s.live[pod] = append(s.live[pod], connection)
	s.mu.Unlock()
	<-connection.CloseChan()
}

// upgrade turns a request into a connection with streams, through a WebSocket or with SPDY. It returns nil after an
// error.
func upgrade(w http.ResponseWriter, r *http.Request, handle httpstream.NewStreamHandler) httpstream.Connection {
	const protocol = "portforward.k8s.io"
	if r.Method == http.MethodPost {
		if _, err := httpstream.Handshake(r, w, []string{protocol}); err != nil {
			return nil
		}
		return spdy.NewResponseUpgrader().UpgradeResponse(w, r, handle)
	}
	upgrader := websocket.Upgrader{Subprotocols: []string{"SPDY/3.1+" + protocol}}
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil
	}
	connection, err := spdy.NewServerConnection(portforward.NewTunnelingConnection("server", socket), handle)
	if err != nil {
		_ = socket.Close()
		return nil
	}
	return connection
}

// pipe copies data between a stream and a connection to an address, until the server at the address closes the
// connection.
func pipe(stream httpstream.Stream, to string) {
	defer stream.Close()
	connection, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer connection.Close()
	go func() { _, _ = io.Copy(connection, stream) }()
	_, _ = io.Copy(stream, connection)
}
