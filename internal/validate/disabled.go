package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/suggest"
)

const (
	maxDisabled       = 256
	maxDisabledLength = 128
)

// disabledKnown refuses an API that no release knows. One that only other
// releases know is the engine's to warn about.
func disabledKnown(obj *object) field.ErrorList {
	var errs field.ErrorList
	for i, text := range obj.Spec.Disabled {
		api, _, _ := strings.Cut(text, "/")
		if api == "" || serverAPI(api) != "" {
			continue
		}
		errs = append(errs, field.Invalid(spec("disabled").Index(i), api, unknownAPI(api)))
	}
	return errs
}

func disabledCount(obj *object) field.ErrorList {
	errs := atMost(spec("disabled"), len(obj.Spec.Disabled), maxDisabled)
	for i, text := range obj.Spec.Disabled {
		if len(text) > maxDisabledLength {
			errs = append(errs, field.Invalid(spec("disabled").Index(i), len(text),
				fmt.Sprintf("%d characters are more than the %d that an API and a provider's id may have: remove it", len(text), maxDisabledLength)))
		}
	}
	return errs
}

func disabledTwice(obj *object) field.ErrorList {
	var errs field.ErrorList
	for _, i := range slices.Sorted(maps.Keys(repeated(obj.Spec.Disabled))) {
		errs = append(errs, duplicate(spec("disabled").Index(i), obj.Spec.Disabled[i]))
	}
	return errs
}

// serverAPI is the server's name of an API that is written in either form; empty
// when no release has it.
func serverAPI(name string) string {
	for _, api := range release.KnownAPIs() {
		if name == api || release.SnakeCase(name) == api || name == intent.APIField(api) {
			return api
		}
	}
	return ""
}

func unknownAPI(api string) string {
	known := make([]string, 0, len(release.KnownAPIs()))
	for _, name := range release.KnownAPIs() {
		known = append(known, fieldName(name))
	}
	slices.Sort(known)
	message := fmt.Sprintf("%q is no API of any server release", api)
	if near := suggest.Nearest(api, known); near != "" {
		return fmt.Sprintf("%s, did you mean %q?", message, near)
	}
	return message + "; known are " + strings.Join(known, ", ")
}

// fieldName is the name of an API as the spec has it.
func fieldName(api string) string {
	if name := intent.APIField(api); name != "" {
		return name
	}
	return release.CamelCase(api)
}
