package validate

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxSecretEnv = 64

// reserved are variables that the operator sets on the server's container, and
// those that no program runs without.
var reserved = []string{"HF_HOME", "HOME", "LLAMA_STACK_CONFIG", "LLS_PORT", "LLS_WORKERS", "PATH", "RUN_CONFIG_PATH"}

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
		if slices.Contains(reserved, name) {
			errs = append(errs, field.Forbidden(spec("secretEnv").Key(name), fmt.Sprintf(
				"%q is set by the operator or the image: take another name, or set it in workload.overrides.env", name)))
		}
	}
	return errs
}
