package forward_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/forward"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/fakeapi"
)

func pod(name string, age time.Duration, ready bool) corev1.Pod {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name,
			CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age)),
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
		},
	}
}

func TestChoose(t *testing.T) {
	deleted := pod("deleted", 0, true)
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
	failed := pod("failed", 0, true)
	failed.Status.Phase = corev1.PodFailed
	for name, tc := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"no pods":      {nil, ""},
		"no ready pod": {[]corev1.Pod{pod("a", 0, false), deleted, failed}, ""},
		"newest": {
			[]corev1.Pod{pod("old", time.Hour, true), pod("new", time.Minute, true), pod("newest", 0, false)},
			"new",
		},
		"equal age": {[]corev1.Pod{pod("b", 0, true), pod("a", 0, true)}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if chosen := forward.Choose(tc.pods); chosen != nil {
				got = chosen.Name
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// backend starts a server that responds with the given name, and returns the address of the server.
func backend(t *testing.T, name string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) }))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func ask(t *testing.T, port uint16) (string, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	response, err := client.Get("http://127.0.0.1:" + strconv.Itoa(int(port)))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func configOf(t *testing.T, server *fakeapi.Server) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig)
	testutil.Must(t, err)
	return config
}

// Open uses SPDY if the API server does not accept a WebSocket.
func TestOpen(t *testing.T) {
	server := fakeapi.Start(t)
	server.Forward("team-a/a", backend(t, "a"))
	of := pod("a", 0, true)
	session, err := forward.Open(t.Context(), configOf(t, server), &of, 0, 8321)
	testutil.Must(t, err)
	for range 3 {
		if got, err := ask(t, session.Port); got != "a" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	requests := strings.Join(server.Requests(), "\n")
	const path = " /api/v1/namespaces/team-a/pods/a/portforward"
	if !session.SPDY || !strings.Contains(requests, "GET"+path) || !strings.Contains(requests, "POST"+path) {
		t.Errorf("requests:\n%s", requests)
	}
	second, err := forward.Open(t.Context(), configOf(t, server), &of, session.Port, 8321)
	if err == nil {
		second.Close()
		t.Error("no error for a port that is in use")
	} else if !strings.Contains(err.Error(), "unable to listen on port "+strconv.Itoa(int(session.Port))) {
		t.Errorf("got %v", err)
	}
	session.Close()
	if _, err := ask(t, session.Port); err == nil {
		t.Error("the port accepts connections after Close")
	}
}

// With an API server that runs Kubernetes 1.31 or newer, Open uses only a WebSocket.
func TestOpenByWebSocket(t *testing.T) {
	server := fakeapi.Start(t)
	server.ForwardByWebSocket()
	server.Forward("team-a/a", backend(t, "a"))
	of := pod("a", 0, true)
	session, err := forward.Open(t.Context(), configOf(t, server), &of, 0, 8321)
	testutil.Must(t, err)
	defer session.Close()
	for range 3 {
		if got, err := ask(t, session.Port); got != "a" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if requests := strings.Join(server.Requests(), "\n"); session.SPDY || strings.Contains(requests, "POST ") {
		t.Errorf("SPDY %t, requests:\n%s", session.SPDY, requests)
	}
}

func TestOpenDenied(t *testing.T) {
	server := fakeapi.Start(t)
	server.Deny("/api/v1/namespaces/team-a/pods/a/portforward")
	of := pod("a", 0, true)
	_, err := forward.Open(t.Context(), configOf(t, server), &of, 0, 8321)
	if !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

// world contains the pods that a Follower lists, and receives its reports.
type world struct {
	mu      sync.Mutex
	pods    []corev1.Pod
	reports chan string
}

func (w *world) set(pods ...corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods = pods
}

func (w *world) list(context.Context) ([]corev1.Pod, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pods, nil
}

func (w *world) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-w.reports:
		if got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("no report within 20 s, want %q", want)
	}
}

// The local port does not change when the Follower connects to a different pod.
func TestFollow(t *testing.T) {
	server := fakeapi.Start(t)
	server.Forward("team-a/a", backend(t, "a"))
	server.Forward("team-a/b", backend(t, "b"))
	config := configOf(t, server)
	w := &world{reports: make(chan string, 10), pods: []corev1.Pod{pod("a", time.Hour, true)}}
	var port uint16
	follower := forward.Follower{
		Pods: w.list, Interval: 10 * time.Millisecond,
		Open: func(ctx context.Context, pod *corev1.Pod, local uint16) (*forward.Session, error) {
			return forward.Open(ctx, config, pod, local, 8321)
		},
		Connected: func(pod string, at uint16) { port = at; w.reports <- pod },
		Waiting:   func(err error) { w.reports <- err.Error() },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- follower.Run(ctx, 0) }()
	w.expect(t, "a")
	first := port
	if got, err := ask(t, port); got != "a" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	w.set(pod("a", time.Hour, false))
	w.expect(t, forward.ErrNoPod.Error())
	w.set(pod("b", 0, true))
	w.expect(t, "b")
	if got, err := ask(t, port); got != "b" || err != nil || port != first {
		t.Errorf("got %q, %v at port %d, want %d", got, err, port, first)
	}
	server.Cut("team-a/b")
	w.expect(t, "b")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFollowNothing(t *testing.T) {
	w := &world{}
	follower := forward.Follower{Pods: w.list, Interval: time.Millisecond}
	if err := follower.Run(t.Context(), 0); !errors.Is(err, forward.ErrNoPod) {
		t.Errorf("got %v", err)
	}
}
