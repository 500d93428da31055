package apply

import (
	"crypto/sha256"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
)

const (
	// sharedFields is the maximum number of stored sets of fields. Each kind has several sets for each combination of
	// options.
	sharedFields = 1024
	// maxShared is the maximum size, in bytes, of a stored set of fields. A child keeps its own copy of longer ones, which
	// only tenants write.
	maxShared = 8 << 10
	// controllerUID replaces the UID of the object's controller in stored fields. The UID is the only difference between
	// the fields of similar children. No object has this UID.
	controllerUID = "00000000-0000-0000-0000-000000000000"
)

// SharedFields stores only one copy of managed fields that are identical in many cached children. Managed fields make
// up a tenth of a child's size, and are equal in all children of one kind whose owners use the same options. An Applier
// can read the shared fields.
type SharedFields struct{ known *lru.Cache }

// NewSharedFields returns an empty SharedFields.
func NewSharedFields() SharedFields { return SharedFields{lru.New(sharedFields)} }

// Transform is a transform function for the caches of kinds that are cached as Go types. It has no effect on other
// kinds, because unstructured objects return copies of their managed fields. Each child keeps its managed fields, which
// comparisons need.
func (s SharedFields) Transform(object any) (any, error) {
	child, ok := object.(metav1.Object)
	if !ok {
		return object, nil
	}
	controller := uidOfController(child)
	entries := child.GetManagedFields()
	for i, entry := range entries {
		if entry.FieldsV1 == nil {
			continue
		}
		text := entry.FieldsV1.GetRawString()
		if len(text) > maxShared {
			continue
		}
		if controller != "" {
			text = strings.ReplaceAll(text, controller, controllerUID)
		}
		digest := sha256.Sum256([]byte(text))
		known, ok := s.known.Get(digest)
		if !ok {
			known = metav1.NewFieldsV1(text)
			s.known.Add(digest, known)
		}
		entries[i].FieldsV1, _ = known.(*metav1.FieldsV1)
	}
	return object, nil
}
