package intent

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// FromObject reads the spec of an object, which it does not change. All errors
// are found at once; the Intent then holds what was right, so that further
// checks can be made on it, and is never nil.
func FromObject(obj *v1alpha2.LlamaStackDistribution) (*Intent, field.ErrorList) {
	spec, path := &obj.Spec, field.NewPath("spec")
	in := &Intent{
		Name:      obj.Name,
		Namespace: obj.Namespace,
		Distribution: Distribution{
			Name:    spec.Distribution.Name,
			Image:   spec.Distribution.Image,
			Version: spec.Distribution.Version,
		},
		Variables:     variables(spec.Workload),
		MoreVariables: spec.Workload != nil && spec.Workload.Overrides != nil && len(spec.Workload.Overrides.EnvFrom) > 0,
	}
	var all, errs field.ErrorList
	in.Providers, errs = decodeProviders(spec.Providers, path.Child("providers"))
	all = append(all, errs...)
	all = append(all, decodeResources(in, spec.Resources, path.Child("resources"))...)
	in.Storage, errs = decodeStorage(spec.Storage, path.Child("storage"))
	all = append(all, errs...)
	in.Disabled, errs = decodeDisabled(spec.Disabled, path.Child("disabled"))
	all = append(all, errs...)
	in.Server, errs = decodeServer(obj, path)
	all = append(all, errs...)
	in.Settings, errs = decodeSettings(spec.Settings, spec.RemoveSettings, path)
	all = append(all, errs...)
	in.SecretEnv, errs = decodeSecretEnv(spec.SecretEnv, path.Child("secretEnv"))
	all = append(all, errs...)
	in.Secrets, errs = nameSecrets(in)
	return in, append(all, errs...)
}
