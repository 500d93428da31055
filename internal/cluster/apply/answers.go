package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// answers holds the API server's last response for each object. Its only purpose is to save calls: without it, the
// operator would read objects more often. It saves calls if the cache does not yet contain the operator's last write,
// or holds only the metadata of an object. It also saves calls if the API server stores an object in a form that
// differs from the applied one. The Applier never calls the methods concurrently for the same object.
type answers struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]map[objectKey]entry
}

type objectKey struct {
	gvk  schema.GroupVersionKind
	name string
}

type entry struct {
	digest          [sha256.Size]byte
	uid             types.UID
	resourceVersion string
	// live holds the object until the cache contains the same version. After that, or if no lookup needs the object, live
	// is nil.
	live client.Object
}

func (m *answers) remember(
	owner types.NamespacedName, wanted *unstructured.Unstructured, live client.Object, keep bool,
) {
	e := entry{digest: digestOf(wanted), uid: live.GetUID(), resourceVersion: live.GetResourceVersion()}
	if keep {
		e.live = live
	}
	m.put(owner, wanted, e)
}

func (m *answers) put(owner types.NamespacedName, object *unstructured.Unstructured, e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[owner] == nil {
		m.entries[owner] = map[objectKey]entry{}
	}
	m.entries[owner][keyOf(object)] = e
}

// confirmed reports whether an earlier response has shown that `wanted` is in force in this version of the object.
func (m *answers) confirmed(
	owner types.NamespacedName, wanted *unstructured.Unstructured, uid types.UID, resourceVersion string,
) bool {
	e, ok := m.find(owner, wanted)
	if !ok || e.uid != uid || e.resourceVersion != resourceVersion {
		return false
	}
	m.drop(owner, wanted)
	return digestOf(wanted) == e.digest
}

// markUncertain records that an object with this name may exist even if the cache does not contain it. The operator
// might not have received the response to its write, or another client might have created the object first.
func (m *answers) markUncertain(owner types.NamespacedName, wanted *unstructured.Unstructured) {
	if !m.knows(owner, wanted) {
		m.put(owner, wanted, entry{})
	}
}

// knows reports whether the operator wrote an object with this name, or tried to write it.
func (m *answers) knows(owner types.NamespacedName, wanted *unstructured.Unstructured) bool {
	_, ok := m.find(owner, wanted)
	return ok
}

// newer returns the API server's last response if the cached object is older, and nil otherwise.
func (m *answers) newer(
	owner types.NamespacedName, cached *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	e, ok := m.find(owner, cached)
	if !ok || e.live == nil || e.uid != cached.GetUID() {
		return nil, nil
	}
	if !before(cached.GetResourceVersion(), e.resourceVersion) {
		m.drop(owner, cached)
		return nil, nil
	}
	newer, err := content(e.live, cached.GroupVersionKind())
	return newer.DeepCopy(), err
}

// before reports whether a version is older than another version. It returns false if the two cannot be compared.
func before(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order < 0
}

func (m *answers) find(owner types.NamespacedName, object *unstructured.Unstructured) (entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[owner][keyOf(object)]
	return e, ok
}

// drop releases the stored object after the cache has caught up. It keeps the rest of the entry.
func (m *answers) drop(owner types.NamespacedName, object *unstructured.Unstructured) {
	if e, ok := m.find(owner, object); ok {
		e.live = nil
		m.put(owner, object, e)
	}
}

// remove drops the entry of a deleted object.
func (m *answers) remove(owner types.NamespacedName, key objectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries[owner], key)
}

func (m *answers) forget(owner types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, owner)
}

func keyOf(object *unstructured.Unstructured) objectKey {
	return objectKey{gvk: object.GroupVersionKind(), name: object.GetName()}
}

// Digest returns a digest of a desired object and of the version of the live object in which it is in force.
func Digest(wanted *unstructured.Unstructured, live client.Object) string {
	digest := digestOf(wanted)
	whole := sha256.Sum256(fmt.Appendf(digest[:], "%s/%s", live.GetUID(), live.GetResourceVersion()))
	return hex.EncodeToString(whole[:digestBytes])
}

// digestBytes is the length of a digest, which is in an annotation.
const digestBytes = 12

// Recall makes the Applier treat each object of a kind in MetadataOnly as in force if it has the recorded digest, so
// that a new Applier does not read it. The digests are recorded by the names of the objects.
func (a *Applier) Recall(
	ctx context.Context, owner Owner, wanted []*unstructured.Unstructured, digests map[string]string,
) error {
	for _, object := range wanted {
		digest := digests[object.GetName()]
		if digest == "" || !a.metadataOnly.Has(object.GroupVersionKind()) || a.answers.knows(owner.Key(), object) {
			continue
		}
		cached, err := a.cached(ctx, object)
		if err != nil {
			return err
		}
		if cached != nil && Digest(object, cached) == digest {
			a.answers.remember(owner.Key(), object, cached, false)
		}
	}
	return nil
}

// digestOf returns a digest of a desired object. The digest is stable, because json.Marshal sorts the keys of maps.
func digestOf(wanted *unstructured.Unstructured) [sha256.Size]byte {
	data, _ := json.Marshal(wanted.Object) // JSON values can always be encoded
	return sha256.Sum256(data)
}
