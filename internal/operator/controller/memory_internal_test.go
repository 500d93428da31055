package controller

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// TestKeptOfStacks checks the memory that the reconciler keeps for stacks with long specs and statuses, which are not in
// memory themselves: the names of the objects to which they refer, and the statuses that the operator wrote.
func TestKeptOfStacks(t *testing.T) {
	const stacks = 1000
	long := strings.Repeat("a", 240)
	for name, tc := range map[string]struct {
		keep func(index *referenceIndex, statuses *statusMemory, name types.NamespacedName)
		most int
	}{
		"references": {
			func(index *referenceIndex, _ *statusMemory, name types.NamespacedName) {
				uses := make([]intent.SecretUse, 0, 256)
				for i := range 256 {
					uses = append(uses, intent.SecretUse{Secret: fmt.Sprintf("%s-%s-%d", long, name.Name, i)})
				}
				index.set(name, uses, nil)
			}, 48 << 20,
		},
		"statuses": {
			func(_ *referenceIndex, statuses *statusMemory, name types.NamespacedName) {
				written := &stack{}
				written.Namespace, written.Name, written.UID, written.ResourceVersion = name.Namespace, name.Name, "u", "1"
				written.Status.ServiceURL = strings.Repeat("a", 32<<10)
				statuses.remember(written)
			}, 12 << 20,
		},
	} {
		index, statuses := newReferenceIndex(), newStatusMemory()
		before := kept()
		for i := range stacks {
			tc.keep(index, statuses, types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(i)})
		}
		if after := kept(); after > before+tc.most {
			t.Errorf("%s: %d KiB are kept, want at most %d", name, (after-before)>>10, tc.most>>10)
		}
		last := types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(stacks - 1)}
		if name == "references" {
			secret := types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("%s-%s-%d", long, last.Name, 7)}
			if !index.used(kindSecret, secret) || index.used(kindConfigMap, secret) {
				t.Error("the Secret of a stack is not found, or found as a ConfigMap")
			}
			index.forget(last)
			if index.used(kindSecret, secret) {
				t.Error("the Secret of a forgotten stack is found")
			}
		}
		runtime.KeepAlive(index)
		runtime.KeepAlive(statuses)
	}
}

// kept returns the size of the heap without garbage.
func kept() int {
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return int(memory.HeapAlloc) //nolint:gosec // a heap is smaller
}
