package informer

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var (
	refused = &url.Error{Op: "Get", URL: "https://10.0.0.1", Err: errors.New("connection refused")}
	hasty   = wait.Backoff{Duration: time.Millisecond}
)

// outage returns a ListWatch whose first calls fail.
func outage(calls *atomic.Int32, lasts int32) *toolscache.ListWatch {
	list := func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		if calls.Add(1) <= lasts {
			return nil, refused
		}
		return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: list,
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if options.SendInitialEvents != nil {
				// This API server does not support streaming lists.
				return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "", nil)
			}
			if _, err := list(ctx, options); err != nil {
				return nil, err
			}
			return watch.NewFake(), nil
		},
	}
}

// TestPages checks that an informer of an API server without streaming lists transforms each page before it requests
// the next one, so that it never holds all whole objects.
func TestPages(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calls, reduced := outage(&atomic.Int32{}, 0), 0
	calls.ListWithContextFunc = func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
		asked, _ := strconv.Atoi(options.Continue)
		if options.Limit != pageSize || options.ResourceVersion != "" || reduced != asked {
			t.Errorf("%+v after %d objects", options, reduced)
		}
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
		for i := range pageSize {
			meta := metav1.ObjectMeta{Name: strconv.Itoa(asked + i), Labels: map[string]string{"a": "b"}}
			list.Items = append(list.Items, corev1.Pod{ObjectMeta: meta})
		}
		if asked < 2*pageSize {
			list.Continue = strconv.Itoa(asked + pageSize)
		}
		return list, nil
	}
	informer := New(calls, &corev1.Pod{}, 0, toolscache.Indexers{})
	err := informer.SetTransform(func(object any) (any, error) {
		if pod := object.(*corev1.Pod); pod.Labels != nil {
			reduced++
			return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}}, nil
		}
		return object, nil
	})
	testutil.Must(t, err)
	running.Go(func() { informer.RunWithContext(ctx) })
	if !toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatalf("the informer is not filled after %d objects", reduced)
	}
	if kept := len(informer.GetStore().ListKeys()); kept != 3*pageSize || reduced != kept {
		t.Errorf("%d objects, %d reduced", kept, reduced)
	}
}

func TestUntilAnswered(t *testing.T) {
	for name, call := range map[string]func(context.Context, toolscache.ListerWatcherWithContext) error{
		"list": func(ctx context.Context, calls toolscache.ListerWatcherWithContext) error {
			_, err := calls.ListWithContext(ctx, metav1.ListOptions{})
			return err
		},
		"watch": func(ctx context.Context, calls toolscache.ListerWatcherWithContext) error {
			_, err := calls.WatchWithContext(ctx, metav1.ListOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			patient := toolscache.ToListerWatcherWithContext(untilAnswered(outage(&calls, 3), hasty))
			if err := call(t.Context(), patient); err != nil || calls.Load() != 4 {
				t.Errorf("after %d calls: %v", calls.Load(), err)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			calls.Store(0)
			patient = toolscache.ToListerWatcherWithContext(untilAnswered(outage(&calls, 3), wait.Backoff{Duration: time.Hour}))
			if err := call(ended, patient); !errors.Is(err, refused) || calls.Load() != 1 {
				t.Errorf("when the program ends: %v after %d calls", err, calls.Load())
			}
		})
	}
}

// TestReconnectPauses checks that clients retry their calls soon after an API server recovers, but not all at the same
// time.
func TestReconnectPauses(t *testing.T) {
	for range 10 {
		delay := reconnect.DelayFunc()
		previous, differ := time.Duration(0), false
		for attempt := range 50 {
			pause := delay()
			if pause < 800*time.Millisecond || pause > 10*time.Second || attempt > 10 && pause < 5*time.Second {
				t.Errorf("pause %d is %v", attempt, pause)
			}
			differ = differ || attempt > 10 && pause != previous
			previous = pause
		}
		if !differ {
			t.Errorf("all pauses are equal: %v", previous)
		}
	}
}

func TestUnavailable(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	generic := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "get", pods, "", "<html>", 0, true)
	}
	tooLarge := apierrors.NewTimeoutError("Too large resource version", 1)
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                              {nil, false},
		"not reached":                           {refused, true},
		"starting":                              {apierrors.NewServiceUnavailable("starting"), true},
		"busy":                                  {apierrors.NewTooManyRequestsError("later"), true},
		"without etcd":                          {apierrors.NewInternalError(errors.New("etcdserver: no leader")), true},
		"a load balancer without an API server": {generic(http.StatusBadGateway), true},
		"a resource version that does not exist yet": {tooLarge, false},
		"an expired resource version":                {apierrors.NewResourceExpired("too old"), false},
		"forbidden":                                  {apierrors.NewForbidden(pods, "", nil), false},
		"not served":                                 {generic(http.StatusNotFound), false},
		"an unknown error":                           {errors.New("no kind is registered"), false},
	} {
		if got := Unavailable(tc.err); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
