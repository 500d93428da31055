package absorb

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// judge compares the generated configuration with the user's configuration.
func (c *candidate) judge(built *plan.Plan, stack *v1alpha2.LlamaStackDistribution) Result {
	got, err := read(built.Config)
	if err != nil {
		return Result{Stays: []Reason{reasonOf(err)}}
	}
	j := judgment{candidate: c, remarks: slices.Clone(c.remarks), got: got, want: clone(c.want).(object)} //nolint:forcetypeassert // a copy of an object
	j.settle(stack)
	j.compare(j.got, j.want, nil)
	j.environment(built)
	for _, loss := range built.Losses {
		j.stay(loss.Path, loss.Message)
	}
	if len(j.stays) > 0 {
		return Result{Stays: j.stays}
	}
	result := Result{Spec: asJSON(c.spec()).(object), Comments: c.comments, Remarks: j.remarks} //nolint:forcetypeassert // a copy of an object
	for _, variable := range c.env {
		result.Env = append(result.Env, object{"name": variable.Name, "value": variable.Value})
		result.Remarks = append(result.Remarks,
			fmt.Sprintf("The variable %s in spec.workload.overrides.env keeps the server's registry in its present location.", variable.Name))
	}
	return result
}

// judgment is the comparison of `got`, the configuration that is generated from the fields, with `want`, the user's.
type judgment struct {
	*candidate
	got, want object
	remarks   []string
}

// settle removes from both configurations the differences that have no effect on the server.
func (j *judgment) settle(stack *v1alpha2.LlamaStackDistribution) {
	runtime := j.Distribution.Release.Runtime
	j.settleServer(runtime)
	sortAPIs(j.got)
	sortAPIs(j.want)
	for _, known := range j.Distribution.Release.Resources() {
		for _, side := range []object{j.got, j.want} {
			settleResources(side, known)
		}
	}
	j.settleStorage(intent.Overrides(&stack.Spec).Env)
	j.got, _ = named(j.got, secretsByVariable(stack)).(object)
	j.want, _ = named(j.want, j.secrets).(object)
}

// settleServer handles the port and plain HTTP, which the operator also sets for a pod with overrideConfig.
func (j *judgment) settleServer(runtime release.Runtime) {
	got, want := objectAt(j.got, "server"), objectAt(j.want, "server")
	port, written := want["port"]
	switch {
	case runtime.ServerPortIgnored:
		delete(got, "port")
		delete(want, "port")
		if written && port != whole(int(j.Intent.Server.Port)) {
			j.remarks = append(j.remarks, fmt.Sprintf("server.port in your configuration has no effect in server release %s. "+
				"spec.networking.port sets the port.", j.Distribution.Release.Line))
		}
	case !written && got["port"] == whole(runtime.DefaultPort):
		delete(got, "port")
	}
	if _, written := want["insecure"]; !written && got["insecure"] == true && slices.Contains(container(j.before).Args, "--insecure") {
		delete(got, "insecure")
		j.remarks = append(j.remarks, "The operator now writes server.insecure to the configuration. Previously, it passed --insecure to the server as an argument.")
	}
	if len(got) == 0 && j.want["server"] == nil {
		delete(j.got, "server")
	}
}

// sortAPIs sorts the list of APIs and removes duplicates, because the server treats it as a set.
func sortAPIs(config object) {
	listed, ok := config["apis"].([]any)
	if !ok {
		return
	}
	slices.SortFunc(listed, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	config["apis"] = slices.CompactFunc(listed, equal)
}

// settleResources removes empty lists of resources, and the values that the server treats as missing.
func settleResources(config object, known release.Resource) {
	section := config
	if known.Section != release.TopLevel {
		section = objectAt(config, known.Section)
	}
	if entries, isList := section[known.Kind].([]any); isList && len(entries) > 0 {
		section[known.Kind] = tidyList(known.Kind, entries)
	}
	if known.Section == release.TopLevel {
		dropEmpty(section, known.Kind)
		return
	}
	// The section may also contain kinds that the release ignores.
	for _, kind := range sortedKeys(section) {
		dropEmpty(section, kind)
	}
	if len(section) == 0 {
		delete(config, known.Section)
	}
}

func dropEmpty(section object, key string) {
	if entries, isList := section[key].([]any); isList && len(entries) == 0 || section[key] == nil {
		delete(section, key)
	}
}

// settleStorage handles the values that the operator writes explicitly: the namespace of the registry, and the table
// names of the backends.
func (j *judgment) settleStorage(env []corev1.EnvVar) {
	metadata := objectAt(j.got, "storage", "stores", "metadata")
	if found, isWhole := envref.Server.Whole(textAt(metadata, "namespace")); isWhole && found.Name == names.EnvRegistry {
		for i := range env {
			if env[i].Name == names.EnvRegistry && env[i].Value != "" {
				metadata["namespace"] = env[i].Value
			}
		}
	}
	backends := objectAt(j.got, "storage", "backends")
	for _, name := range sortedKeys(backends) {
		kind, known := j.Distribution.Release.Storage.Backend(textAt(backends, name, "type"))
		written := at(j.want, "storage", "backends", name, "table_name")
		if !known || kind.Class == nil || written != nil {
			continue
		}
		if key, ok := kind.Class.Key("table_name"); ok && !key.Required && key.Default == at(backends, name, "table_name") {
			delete(objectAt(backends, name), "table_name")
		}
	}
}

// secretsByVariable returns the variables of a stack that come from Secrets, including the operator's variables.
func secretsByVariable(stack *v1alpha2.LlamaStackDistribution) map[string]secretKey {
	found := secretsOf(stack)
	in, _ := intent.FromObject(stack)
	for _, use := range in.Secrets {
		if use.Purpose == intent.PurposeProvider || use.Purpose == intent.PurposePassword {
			found[use.EnvVar] = secretKey{use.Secret, use.Key}
		}
	}
	return found
}

// named replaces each value that consists of a variable from a Secret. The replacement is the key of the Secret.
func named(value any, secrets map[string]secretKey) any {
	switch v := value.(type) {
	case object:
		for key := range v {
			v[key] = named(v[key], secrets)
		}
	case []any:
		for i := range v {
			v[i] = named(v[i], secrets)
		}
	case string:
		if found, isWhole := envref.Server.Whole(v); isWhole && found.Operator == "" {
			if secret, ok := secrets[found.Name]; ok {
				return secret
			}
		}
	}
	return value
}
