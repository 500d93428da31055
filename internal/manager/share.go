package manager

import (
	"crypto/sha256"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
)

// sharedFields is how many sets of fields are known: several for each kind of child and
// each set of options in use.
const sharedFields = 1024

// ownership keeps once what is alike in many children: which fields are whose. It is a
// tenth of a child's size, and the same in all of one kind whose stacks use the same
// options.
type ownership struct{ known *lru.Cache }

func newOwnership() ownership { return ownership{lru.New(sharedFields)} }

// share keeps a child whole, managed fields included: what is to be written is told by
// them. It is for kinds that are cached as their types; the fields of any other are only
// shown as copies.
func (o ownership) share(object any) (any, error) {
	child, ok := object.(metav1.Object)
	if !ok {
		return object, nil
	}
	for i, entry := range child.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		digest := sha256.Sum256(entry.FieldsV1.GetRawBytes())
		if known, ok := o.known.Get(digest); ok {
			child.GetManagedFields()[i].FieldsV1, _ = known.(*metav1.FieldsV1)
		} else {
			o.known.Add(digest, entry.FieldsV1)
		}
	}
	return object, nil
}
