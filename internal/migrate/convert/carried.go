package convert

import (
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
)

// Carried returns the fields of the other version in the conversion-data annotation of an object, as dotted paths. It
// returns no fields if the object does not have this annotation, if the annotation is ignored, or if the annotation
// contains only the version in which the object was created. It does not change the object.
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

// Counterpart returns the path of a field in another API version. The parameter `to` is that version, one of Versions.
// The counterpart of a subfield is below the counterpart of its field. A field without a counterpart is returned
// unchanged.
func Counterpart(field []string, to string) []string {
	best := counterpart{}
	for _, c := range counterparts(to) {
		if len(c.from) > len(best.from) && len(c.from) <= len(field) && slices.Equal(c.from, field[:len(c.from)]) {
			best = c
		}
	}
	return slices.Concat(best.to, field[len(best.from):])
}

// counterpart is a field of one version and the same field of the other version.
type counterpart struct{ from, to path }

// counterparts returns the fields with a counterpart in a version.
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
