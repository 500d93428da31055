package apply

import (
	"crypto/sha256"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"
)

const (
	// sharedFields is how many sets of fields are known: several for each kind of child and
	// each set of options in use.
	sharedFields = 1024
	// controllerUID stands in kept fields for the uid of the object's controller, which is
	// the one thing in them that differs between children that are alike. No object has it.
	controllerUID = "00000000-0000-0000-0000-000000000000"
)

// SharedFields keeps once what is alike in many cached children: which fields are whose.
// That is a tenth of what a child takes, and the same in all of one kind whose owners use
// the same options. An Applier knows how to read it.
type SharedFields struct{ known *lru.Cache }

// NewSharedFields makes an empty one.
func NewSharedFields() SharedFields { return SharedFields{lru.New(sharedFields)} }

// Transform is a cache's, for kinds that are cached as their types; the fields of any
// other are only shown as copies. A child stays whole: what is to be written is told by
// its managed fields.
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
