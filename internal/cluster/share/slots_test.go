package share_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
)

// TestSlots checks that a namespace uses at most its share of the slots, that waiting namespaces take turns, and that a
// caller that no longer waits takes no slot.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := share.NewSlots(2, 1)
		took := make(chan string, 10)
		take := func(ctx context.Context, namespace, name string) (free func()) {
			release := make(chan struct{})
			go func() {
				free, err := slots.Take(ctx, namespace)
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("%s: %v", name, err)
					}
					return
				}
				took <- name
				<-release
				free()
			}()
			synctest.Wait()
			return func() { close(release); synctest.Wait() }
		}
		impatient, leave := context.WithCancel(t.Context())
		loud := take(t.Context(), "loud", "loud/0")
		take(impatient, "loud", "loud/gone")
		next := take(t.Context(), "loud", "loud/1")
		calm := take(t.Context(), "calm", "calm/0")
		late := take(t.Context(), "late", "late/0")
		leave()
		synctest.Wait()
		for _, free := range []func(){loud, calm, late, next} {
			free()
		}
		again := take(t.Context(), "loud", "loud/2")
		other := take(t.Context(), "calm", "calm/1")
		again()
		other()
		close(took)
		var order []string
		for name := range took {
			order = append(order, name)
		}
		want := []string{"loud/0", "calm/0", "late/0", "loud/1", "loud/2", "calm/1"}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("order of the slots (-want +got):\n%s", diff)
		}
	})
}

// TestTry checks that Try does not wait, and that it respects the share of a namespace.
func TestTry(t *testing.T) {
	slots := share.NewSlots(3, 2)
	take := func(namespace string, want bool) (free func()) {
		t.Helper()
		free, ok := slots.Try(namespace)
		if ok != want {
			t.Errorf("a slot for %s: got %v, want %v", namespace, ok, want)
		}
		return free
	}
	first := take("loud", true)
	take("loud", true)
	take("loud", false)
	take("calm", true)
	take("late", false)
	first()
	take("loud", true)
	take("late", false)
}

// TestSlowNamespaces checks that namespaces with slow work together leave a slot to others, for a time.
func TestSlowNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := share.NewSlots(2, 1)
		for _, namespace := range []string{"slow", "stalled"} {
			slots.Worked(namespace, 5*time.Second)
		}
		slots.Worked("calm", 4*time.Second)
		free, ok := slots.Try("slow")
		if _, other := slots.Try("stalled"); !ok || other {
			t.Errorf("slots for slow namespaces: %v and %v, want one", ok, other)
		}
		if _, ok := slots.Try("calm"); !ok {
			t.Error("no slot for another namespace")
		}
		free()
		<-time.After(10 * time.Minute)
		slots.Worked("calm", time.Hour)
		if _, ok := slots.Try("stalled"); !ok {
			t.Error("no slot for a namespace that is no longer slow")
		}
	})
}
