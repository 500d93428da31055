package convert

import (
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
)

// Carried returns the fields of the other version that the annotation conversion-data of an object keeps, as dotted
// paths. None: the object has no such annotation, the annotation is ignored, or it only says where the object was made.
// object is not changed.
func Carried(object map[string]any) []string {
	_, carried, err := content(treeOf(object))
	if err != nil {
		return nil
	}
	var found []string
	for _, lost := range carried.Lost {
		if p, ok := parsePointer(lost.Path); ok {
			found = append(found, strings.Join(p, "."))
		}
	}
	return found
}

// Counterpart returns where a field of one version is in the other one, to, which is one of Versions. A part of a field
// lies within the counterpart of the field. What has none is returned as it is.
func Counterpart(field []string, to string) []string {
	best := counterpart{}
	for _, c := range counterparts(to) {
		if len(c.from) > len(best.from) && len(c.from) <= len(field) && slices.Equal(c.from, field[:len(c.from)]) {
			best = c
		}
	}
	return slices.Concat(best.to, field[len(best.from):])
}

// counterpart is a field of one version and of the other.
type counterpart struct{ from, to path }

// counterparts are the fields with a counterpart in a version.
func counterparts(to string) []counterpart {
	found := make([]counterpart, 0, len(named))
	for _, f := range named {
		if to == v1alpha1.GroupVersion.String() {
			found = append(found, counterpart{f.hub, f.older})
		} else {
			found = append(found, counterpart{f.older, f.hub})
		}
	}
	return found
}
