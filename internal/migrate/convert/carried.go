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
	_, carried, err := content(object)
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
	ends := toNewer
	if to == v1alpha1.GroupVersion.String() {
		ends = toOlderVersion
	}
	from, other := longest(field, ends)
	return slices.Concat(other, field[len(from):])
}

// longest returns the paths of the longest known field at the start of a path, in both versions.
func longest(p path, ends func(field) (from, to path)) (from, to path) {
	for _, f := range named {
		start, end := ends(f)
		if len(start) > len(from) && len(start) <= len(p) && slices.Equal(start, p[:len(start)]) {
			from, to = start, end
		}
	}
	return from, to
}
