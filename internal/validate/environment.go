package validate

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
)

const maxSecretEnv = 64

// Each reconcile reads the Secrets of a stack, and each reference is a variable of its
// pods.
const (
	maxSecrets          = 256
	maxSecretReferences = 2000
)

// secretsCount bounds what a stack refers to in all: the lists of providers are bounded
// one by one, and together leave room for any number.
func secretsCount(obj *object) field.ErrorList {
	in, _ := intent.FromObject(obj)
	uses, _ := intent.Secrets(in)
	named, beyond := make(map[string]bool), ""
	for _, use := range uses {
		named[use.Secret] = true
		if len(named) > maxSecrets && beyond == "" {
			beyond = use.Path
		}
	}
	var errs field.ErrorList
	if count := len(named); count > maxSecrets {
		errs = append(errs, field.Forbidden(field.NewPath(beyond), fmt.Sprintf(
			"the stack refers to %d Secrets, more than the %d that it may refer to: put the keys of several into one", count, maxSecrets)))
	}
	if count := len(uses); count > maxSecretReferences {
		errs = append(errs, field.Forbidden(field.NewPath(uses[maxSecretReferences].Path), fmt.Sprintf(
			"the stack has %d references to Secrets, more than the %d that it may have: remove some", count, maxSecretReferences)))
	}
	return errs
}

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
