package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const maxSecretEnv = 64

// reserved are variables that the operator sets on the server's container in some release, and those that no program
// runs without. What depends on the configuration, its directories above all, is package plan's to refuse.
var reserved = []string{
	"PATH", names.EnvModelCache, names.EnvHome, names.EnvConfig, names.EnvRunConfig, "OGX_CONFIG", "LLAMA_STACK_PORT", "OGX_PORT",
}

// isReserved reports whether a variable is one of the operator's.
func isReserved(name string) bool {
	return slices.Contains(reserved, name) || strings.HasPrefix(name, names.EnvOperatorPrefix)
}

func secretEnvCount(obj *object) field.ErrorList {
	path, variables := spec("secretEnv"), obj.Spec.SecretEnv
	if variables != nil && len(variables) == 0 {
		return field.ErrorList{field.Required(path, "must not be empty; leave the field out to have the default")}
	}
	return atMost(path, len(variables), maxSecretEnv)
}

func secretEnvReserved(obj *object) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(obj.Spec.SecretEnv)) {
		if isReserved(name) {
			errs = append(errs, field.Forbidden(spec("secretEnv").Key(name), fmt.Sprintf(
				"%q is set by the operator or the image: take another name, or set it in workload.overrides.env", name)))
		}
	}
	return errs
}
