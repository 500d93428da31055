package validate

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// maxObjectName leaves room for the longest suffix of a child whose name must be
// a label itself, -service.
const maxObjectName = 55

var labelForm = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

func name(obj *object) field.ErrorList {
	if len(obj.Name) <= maxObjectName && labelForm.MatchString(obj.Name) {
		return nil
	}
	if obj.Name == "" {
		return field.ErrorList{field.Required(field.NewPath("metadata", "name"),
			"required: the name of the stack, from which its Service and all the rest take theirs")}
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), obj.Name, fmt.Sprintf(
		`%q must be at most 55 lower-case letters, digits and "-", a letter first and no "-" at the end: children take their names from it`,
		obj.Name))}
}

// distributionOne holds FR-002.
func distributionOne(obj *object) field.ErrorList {
	d, path := obj.Spec.Distribution, spec("distribution")
	switch {
	case d.Name == "" && d.Image == "":
		return field.ErrorList{field.Required(path, "needs name (a known distribution, for example starter) or image")}
	case d.Name != "" && d.Image != "":
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			`name %q and image %q exclude each other: remove one of them`, d.Name, d.Image))}
	}
	return nil
}

func distributionImage(obj *object) field.ErrorList {
	if obj.Spec.Distribution.Image == "" {
		return nil
	}
	return Image(spec("distribution", "image"), obj.Spec.Distribution.Image)
}

func distributionVersion(obj *object) field.ErrorList {
	d, path := obj.Spec.Distribution, spec("distribution", "version")
	switch {
	case d.Version == "":
		return nil
	case d.Name == "":
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			`%q chooses the release of a named distribution: give name instead of image, or put the version into the tag of image`,
			d.Version))}
	case !release.IsVersion(d.Version):
		return field.ErrorList{field.Invalid(path, d.Version, fmt.Sprintf(
			`%q is not a server release: write one like 0.7 or 0.7.3`, d.Version))}
	}
	return nil
}
