package controller

import (
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// rememberedStatuses is the number of statuses in a statusMemory. The cache contains a write after a moment.
const rememberedStatuses = 256

// statusMemory holds the statuses that the operator wrote and that the cache might not contain yet. Without it, a
// comparison with an older status would cause the same write again. A status can be long, and often no reconcile
// follows its write, so the memory keeps only the last ones.
type statusMemory struct {
	written *lru.Cache // types.NamespacedName → *stack
}

func newStatusMemory() *statusMemory { return &statusMemory{lru.New(rememberedStatuses)} }

func (m *statusMemory) remember(written *stack) {
	kept := &v1alpha2.LlamaStackDistribution{}
	kept.UID, kept.ResourceVersion = written.UID, written.ResourceVersion
	written.Status.DeepCopyInto(&kept.Status)
	m.written.Add(client.ObjectKeyFromObject(written), kept)
}

// refresh replaces the status of a cached object with the last written status if the object is older than that write.
func (m *statusMemory) refresh(cached *stack) {
	key := client.ObjectKeyFromObject(cached)
	known, ok := m.written.Get(key)
	if !ok {
		return
	}
	written := known.(*stack)
	order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, written.ResourceVersion)
	if err != nil || order >= 0 || cached.UID != written.UID {
		m.written.Remove(key)
		return
	}
	written.Status.DeepCopyInto(&cached.Status)
}
