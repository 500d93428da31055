package validate

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var dottedForm = regexp.MustCompile(`^[^.[:space:]]+([.][^.[:space:]]+)*$`)

const (
	maxRemoved       = 64
	maxRemovedLength = 256
)

// removeSettingsPath holds the form of the paths; what they may not lead to is
// package intent's.
func removeSettingsPath(obj *object) field.ErrorList {
	path := spec("removeSettings")
	removed := obj.Spec.RemoveSettings
	errs := atMost(path, len(removed), maxRemoved)
	if removed != nil && len(removed) == 0 {
		errs = append(errs, field.Required(path, "must not be empty; leave the field out to have the default"))
	}
	twice := repeated(removed)
	for i, text := range removed {
		switch {
		case len(text) > maxRemovedLength || !dottedForm.MatchString(text):
			errs = append(errs, field.Invalid(path.Index(i), text,
				fmt.Sprintf(`%q is not a dotted path: write one like server.quota`, text)))
		case twice[i]:
			errs = append(errs, duplicate(path.Index(i), text))
		}
	}
	return errs
}
