package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// statusMemory holds the statuses that the operator wrote and that the cache might not contain yet. Without it, a
// comparison with an older status would cause the same write again.
type statusMemory struct {
	mu      sync.Mutex
	written map[types.NamespacedName]*v1alpha2.LlamaStackDistribution
}

func newStatusMemory() *statusMemory {
	return &statusMemory{written: map[types.NamespacedName]*v1alpha2.LlamaStackDistribution{}}
}

func (m *statusMemory) remember(written *v1alpha2.LlamaStackDistribution) {
	kept := &v1alpha2.LlamaStackDistribution{}
	kept.UID, kept.ResourceVersion = written.UID, written.ResourceVersion
	written.Status.DeepCopyInto(&kept.Status)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written[client.ObjectKeyFromObject(written)] = kept
}

// refresh replaces the status of a cached object with the last written status if the object is older than that write.
func (m *statusMemory) refresh(cached *v1alpha2.LlamaStackDistribution) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(cached)
	written, ok := m.written[key]
	if !ok {
		return
	}
	order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, written.ResourceVersion)
	if err != nil || order >= 0 || cached.UID != written.UID {
		delete(m.written, key)
		return
	}
	written.Status.DeepCopyInto(&cached.Status)
}

func (m *statusMemory) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.written, name)
}
