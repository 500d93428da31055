package logs_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/logs"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// pod returns a pod with the given age in minutes.
func pod(name string, age int, change ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              name,
			CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0).Add(-time.Duration(age) * time.Minute)),
		},
	}
	p.Spec.Containers = []corev1.Container{{Name: "llama-stack"}}
	p.Spec.InitContainers = []corev1.Container{{Name: "make-directories"}, {Name: "reconcile-registry"}}
	for _, each := range change {
		each(&p)
	}
	return p
}

func ready(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func deleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)} }

func restarts(p *corev1.Pod) {
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "llama-stack", RestartCount: 3}}
}

func blocked(p *corev1.Pod) {
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "make-directories", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
		{
			Name:         "reconcile-registry",
			RestartCount: 2,
			State:        corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		},
	}
}

func TestChoose(t *testing.T) {
	server := func(names ...string) []logs.Target {
		var targets []logs.Target
		for _, name := range names {
			targets = append(targets, logs.Target{Pod: name, Container: "llama-stack"})
		}
		return targets
	}
	for name, tc := range map[string]struct {
		pods    []corev1.Pod
		options logs.Options
		want    []logs.Target
		err     string
	}{
		"newest pod":            {[]corev1.Pod{pod("a", 9, ready), pod("b", 1, ready)}, logs.Options{}, server("b"), ""},
		"pod that is not ready": {[]corev1.Pod{pod("a", 9), pod("b", 1, ready)}, logs.Options{}, server("a"), ""},
		"pod that is being deleted": {
			[]corev1.Pod{pod("a", 9, ready), pod("b", 1, deleted)}, logs.Options{}, server("a"), "",
		},
		"all": {[]corev1.Pod{pod("b", 9, ready), pod("a", 1)}, logs.Options{All: true}, server("a", "b"), ""},
		"previous": {
			[]corev1.Pod{pod("a", 9, ready, restarts), pod("b", 1)}, logs.Options{Previous: true}, server("a"), "",
		},
		"no restarted container": {
			[]corev1.Pod{pod("a", 9)},
			logs.Options{Previous: true},
			nil,
			"no selected container has restarted, so there are no previous logs; remove --previous, " +
				"or set --container to another container",
		},
		"a failing init container": {
			[]corev1.Pod{pod("a", 9, blocked)}, logs.Options{Previous: true}, []logs.Target{{Pod: "a", Container: "reconcile-registry"}}, "",
		},
		"an init container by name": {
			[]corev1.Pod{pod("a", 9, ready)},
			logs.Options{Container: "make-directories"},
			[]logs.Target{{Pod: "a", Container: "make-directories"}},
			"",
		},
		"unknown container": {
			[]corev1.Pod{pod("a", 9)},
			logs.Options{Container: "x"},
			nil,
			`pod "a" has no container "x"; use a container of this pod: llama-stack, make-directories, reconcile-registry`,
		},
		"no pods": {nil, logs.Options{}, nil, "the stack has no pods; to find the reason, run kubectl llamastack status"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.options.Server = "llama-stack"
			got, err := logs.Choose(tc.pods, tc.options)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != tc.err {
				t.Errorf("error %q, want %q", said, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	var out bytes.Buffer
	merger := logs.NewMerger(&out)
	var group sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		group.Go(func() {
			if err := merger.Copy(strings.NewReader(strings.Repeat("line\n", 1000)+"end"), name+" | "); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	sums := map[string]int{}
	for line := range strings.Lines(out.String()) {
		sums[line]++
	}
	want := map[string]int{"a | line\n": 1000, "b | line\n": 1000, "a | end\n": 1, "b | end\n": 1}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// endless is a line that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// For a line of 256 MiB, the copy allocates at most 4 MiB.
func TestLongLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	testutil.Must(t, logs.NewMerger(io.Discard).Copy(io.LimitReader(endless{}, 256<<20), "a | "))
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 4<<20 {
		t.Errorf("the copy allocated %d bytes", taken)
	}
}
