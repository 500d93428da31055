package validate

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

const maxSecretEnv = 64

// These are variables that the server reads in some releases. A test compares them with the release data.
const (
	envOldPort = "LLAMA_STACK_PORT"
	envNewPort = "OGX_PORT"
	envFactory = "OGX_CONFIG"
	envDataDir = "OGX_CONFIG_DIR"
)

// reserved lists the variables that the operator sets on the server's container in at least one release, and the
// variables that every program needs. Package plan rejects the variables that depend on the configuration, mainly those
// for directories.
var reserved = []string{
	"PATH", names.EnvModelCache, names.EnvHome, names.EnvConfig, names.EnvRunConfig, envFactory, envOldPort, envNewPort,
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
	variables := c.ownVariables()
	for _, name := range slices.Sorted(maps.Keys(c.Spec.SecretEnv)) {
		if !isReserved(name) {
			continue
		}
		remedy := "use another name, or set the variable in spec.workload.overrides.env"
		if variables[name].need != "" {
			remedy = "use another name"
		}
		c.Forbidden(spec("secretEnv").Key(name), "%q is set by the operator or the image: %s", name, remedy)
	}
}

// userEnv returns the user's variables of the server's container, with their paths. The last one with a name takes
// precedence.
func (c *checks) userEnv() iter.Seq2[*field.Path, *corev1.EnvVar] {
	return func(yield func(*field.Path, *corev1.EnvVar) bool) {
		at, lists := spec("workload", "overrides", "env"), [][]corev1.EnvVar{c.overrides().Env}
		paths := []*field.Path{at}
		if server, at := c.patchedServer(); server != nil {
			lists, paths = append(lists, server.Env), append(paths, at.Child("env"))
		}
		for i, list := range lists {
			for j := range list {
				if !yield(paths[i].Index(j), &list[j]) {
					return
				}
			}
		}
	}
}

// ownVariable describes a variable that the operator sets.
type ownVariable struct {
	// need is the field that needs the variable. Empty means that no field of this spec needs it.
	need string
	// value is the operator's value, if it is known. The user may repeat it.
	value string
	// data reports whether the variable is the path of a directory that must be on a volume.
	data bool
	// remedy is the alternative to the variable.
	remedy string
}

// ownVariables returns the variables that the operator sets in this stack, except those for directories that depend on
// the configuration (package plan warns if data is then not on the volume), and those of spec.offline, which users may
// replace.
func (c *checks) ownVariables() map[string]ownVariable {
	own := map[string]ownVariable{}
	set := func(with ownVariable, names ...string) {
		for _, name := range names {
			own[name] = with
		}
	}
	if need := c.configNeed(); need != "" {
		config := ownVariable{need: need, remedy: "remove it, or set spec.overrideConfig to use your own configuration"}
		set(config, names.EnvGeneration, names.EnvPreflight)
		config.value = names.ConfigPath
		set(config, names.EnvConfig, names.EnvRunConfig, envFactory)
	}
	port := ownVariable{
		need:  needs(c.networking().Port != 0, "networking", "port"),
		value: strconv.Itoa(int(c.intent.Server.Port)), remedy: "remove it, and set spec.networking.port instead",
	}
	set(port, names.EnvPort, envOldPort, envNewPort)
	set(ownVariable{
		need:  needs(c.workload().Workers != nil, "workload", "workers"),
		value: strconv.Itoa(int(max(c.intent.Server.Workers, 1))), remedy: "remove it, and set spec.workload.workers instead",
	}, names.EnvWorkers)
	if c.tls().CABundle != nil {
		set(ownVariable{
			need: needs(true, "networking", "tls", "caBundle"), value: names.CADir + "/" + names.CABundleFile,
			remedy: "add your certificates to the ConfigMap of this field",
		}, names.EnvCABundle, names.EnvRequestsCABundle, names.EnvAWSCABundle)
	}
	if need := c.externalNeed(); need != "" {
		set(ownVariable{need: need, remedy: "set " + names.EnvPythonPath + " instead"}, names.EnvUserPythonPath)
	}
	const files = "remove it, or remove the field"
	if need := needs(c.modelFiles().HuggingFaceCache != "", "modelFiles", "huggingFaceCache"); need != "" {
		set(ownVariable{need: need, remedy: files}, names.EnvHubCache, names.EnvSentenceTransformers)
	}
	if need := needs(c.modelFiles().TiktokenCache != "", "modelFiles", "tiktokenCache"); need != "" {
		set(ownVariable{need: need, remedy: files}, names.EnvTiktokenCache)
	}
	c.dataVariables(set)
	for _, use := range c.intent.Secrets {
		if use.EnvVar != "" && use.Purpose != intent.PurposeVariable {
			set(ownVariable{need: use.Path, remedy: "use another name"}, use.EnvVar)
		}
	}
	return own
}

// dataVariables sets the variables for directories on the data volume.
func (c *checks) dataVariables(set func(with ownVariable, names ...string)) {
	if c.workload().Storage == nil {
		return
	}
	data := ownVariable{data: true, remedy: fmt.Sprintf("write a directory below %q, the path of the volume", c.dataPath())}
	set(data, names.EnvModelCache) // downloaded files can be downloaded again
	data.need = needs(true, "workload", "storage")
	set(data, envDataDir)
	if !profile.Of(c.Annotations).HomeOfImage {
		set(data, names.EnvHome)
	}
}

// variableClashes finds variables that replace the operator's.
func (c *checks) variableClashes() {
	own := c.ownVariables()
	for at, env := range c.userEnv() {
		variable, known := own[env.Name]
		switch {
		case !known, env.ValueFrom == nil && variable.value != "" && env.Value == variable.value:
		case variable.data && (env.ValueFrom != nil || c.onVolume(env.Value)):
		default:
			c.clash(at.Child("name"), env.Name, variable.need, "is %s, which this value replaces: %s",
				whose("variable", variable.need), variable.remedy)
		}
	}
}

// onVolume reports whether the server's data below a directory is on the data volume, or on a volume of the user.
func (c *checks) onVolume(dir string) bool {
	for _, mount := range append(slices.Clone(c.intent.Container.Mounts), c.dataPath()) {
		mount = path.Clean(mount)
		for _, place := range []string{dir, path.Join(dir, ".llama"), path.Join(dir, ".ogx")} {
			if place = path.Clean(place); place == mount || below(place, mount) {
				return true
			}
		}
	}
	return false
}

// variables warns about a variable that is set twice, and about the prefix of the operator's variables.
func variables(c *checks) []string {
	var warnings []string
	first := map[string]*field.Path{}
	for at, env := range c.userEnv() {
		path := at.Child("name")
		if _, both := c.Spec.SecretEnv[env.Name]; both {
			warnings = append(warnings, fmt.Sprintf("%s: %q is also set in secretEnv, and the value here takes precedence; remove one of the two", path, env.Name))
		}
		if other := first[env.Name]; other != nil {
			warnings = append(warnings, fmt.Sprintf("%s: %q is also set in %s, and the value here takes precedence; remove one of the two", path, env.Name, other))
		} else {
			first[env.Name] = at
		}
		if strings.HasPrefix(env.Name, names.EnvPrefix) && !c.isSecretVariable(env.Name) {
			warnings = append(warnings, fmt.Sprintf("%s: %q begins with %s, the prefix of the operator's variables, and replaces any operator variable with the same name; use another name",
				path, env.Name, names.EnvPrefix))
		}
	}
	return warnings
}

// isSecretVariable reports whether the operator sets the variable from a Secret.
func (c *checks) isSecretVariable(name string) bool {
	return slices.ContainsFunc(c.intent.Secrets, func(use intent.SecretUse) bool { return use.EnvVar == name })
}
