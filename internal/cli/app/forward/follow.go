package forward

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// ErrNoPod is the error for a stack without a ready pod.
var ErrNoPod = errors.New("no pod of the stack is ready")

// Follower forwards one local port to a pod of a stack. If the connection ends or the pod no longer serves requests,
// Follower forwards the port to a pod that serves requests, which may be the same pod.
type Follower struct {
	// Pods lists the pods of the stack.
	Pods func(context.Context) ([]corev1.Pod, error)
	// Open forwards a local port to a pod. Port 0 means any free port.
	Open func(ctx context.Context, pod *corev1.Pod, local uint16) (*Session, error)
	// Interval is the time between two calls to Pods.
	Interval time.Duration
	// Connected receives the pod and the local port. Run calls Connected each time it has forwarded the port.
	Connected func(pod string, port uint16)
	// Waiting receives the reason why the first attempt to forward the port again failed. Run calls it at most once for
	// each lost connection.
	Waiting func(reason error)
}

// Run forwards the local port until ctx ends. It returns an error if it cannot forward the port to the first pod.
func (f *Follower) Run(ctx context.Context, local uint16) error {
	session, pod, err := f.connect(ctx, local)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(f.Interval)
	defer ticker.Stop()
	for local = session.Port; ; {
		f.Connected(pod, session.Port)
		f.hold(ctx, ticker, session, pod)
		session.Close()
		if ctx.Err() != nil {
			return nil
		}
		session, pod = f.reconnect(ctx, ticker, local)
		if session == nil {
			return nil
		}
	}
}

// hold waits until ctx or the session ends, or until the pod no longer serves requests.
func (f *Follower) hold(ctx context.Context, ticker *time.Ticker, session *Session, name string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-session.Done:
			return
		case <-ticker.C:
		}
		pods, err := f.Pods(ctx)
		serves := func(pod corev1.Pod) bool { return pod.Name == name && status.IsServing(&pod) }
		if err == nil && !slices.ContainsFunc(pods, serves) {
			return
		}
	}
}

func (f *Follower) connect(ctx context.Context, local uint16) (*Session, string, error) {
	pods, err := f.Pods(ctx)
	if err != nil {
		return nil, "", err
	}
	pod := Choose(pods)
	if pod == nil {
		return nil, "", ErrNoPod
	}
	session, err := f.Open(ctx, pod, local)
	return session, pod.Name, err
}

// reconnect tries to forward the port to a pod that serves requests, until it succeeds. It returns nil if ctx ends
// first.
func (f *Follower) reconnect(ctx context.Context, ticker *time.Ticker, local uint16) (*Session, string) {
	for told := false; ; {
		session, pod, err := f.connect(ctx, local)
		if err == nil {
			return session, pod
		}
		if !told && ctx.Err() == nil {
			f.Waiting(err)
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, ""
		case <-ticker.C:
		}
	}
}

// Choose returns the pod to forward a port to: the newest pod that is ready and is not being deleted. It returns nil if
// there is none.
func Choose(pods []corev1.Pod) *corev1.Pod {
	ready := slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool { return !status.IsServing(&pod) })
	if len(ready) == 0 {
		return nil
	}
	slices.SortFunc(ready, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return &ready[0]
}
