package validate

import (
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const maxSecretEnv = 64

// reserved lists the variables that the operator sets on the server's container in at least one release, and the
// variables that every program needs. Package plan rejects the variables that depend on the configuration, mainly those
// for directories.
var reserved = []string{
	"PATH", names.EnvModelCache, names.EnvHome, names.EnvConfig, names.EnvRunConfig, "OGX_CONFIG", "LLAMA_STACK_PORT", "OGX_PORT",
}

// isReserved reports whether a variable is in the list `reserved` or has the prefix of the operator's own variables.
func isReserved(name string) bool {
	return slices.Contains(reserved, name) || strings.HasPrefix(name, names.EnvOperatorPrefix)
}

func secretEnvCount(c *checks) {
	c.notEmpty(spec("secretEnv"), c.Spec.SecretEnv != nil, len(c.Spec.SecretEnv))
	c.atMost(spec("secretEnv"), len(c.Spec.SecretEnv), maxSecretEnv)
}

func secretEnvReserved(c *checks) {
	for _, name := range slices.Sorted(maps.Keys(c.Spec.SecretEnv)) {
		if isReserved(name) {
			c.Forbidden(spec("secretEnv").Key(name),
				"%q is set by the operator or the image: use another name, or set the variable in spec.workload.overrides.env", name)
		}
	}
}
