package intent

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// FromObject decodes the spec of an object, and does not change the object. It returns all errors at once. The Intent
// is never nil. If there are errors, it contains the valid parts, so that further checks can run on it.
func FromObject(obj *v1alpha2.LlamaStackDistribution) (*Intent, field.ErrorList) {
	var errs Errors
	in, spec, path := undecoded(obj), &obj.Spec, field.NewPath("spec")
	in.Providers = decodeProviders(spec.Providers, path.Child("providers"), &errs)
	in.External = decodeExternal(spec.ExternalProviders, path.Child("externalProviders"), &errs)
	uniqueExternal(in, &errs)
	decodeResources(in, spec.Resources, path.Child("resources"), &errs)
	in.Storage = decodeStorage(spec.Storage, path.Child("storage"), &errs)
	in.Disabled = decodeDisabled(spec.Disabled, path.Child("disabled"), &errs)
	in.Server = decodeServer(obj, path, &errs)
	in.Settings = decodeSettings(spec.Settings, spec.RemoveSettings, path, &errs)
	in.SecretEnv = decodeSecretEnv(spec.SecretEnv, path.Child("secretEnv"), &errs)
	in.Secrets = nameSecrets(in)
	collisions(in.Secrets, &errs)
	tooManySecrets(in.Secrets, &errs)
	return in, field.ErrorList(errs)
}

// undecoded returns an intent with the parts of the spec that have only one form and cannot be invalid.
func undecoded(obj *v1alpha2.LlamaStackDistribution) *Intent {
	spec, overrides := &obj.Spec, Overrides(&obj.Spec)
	in := &Intent{
		Name:      obj.Name,
		Namespace: obj.Namespace,
		Distribution: Distribution{
			Name:    spec.Distribution.Name,
			Image:   spec.Distribution.Image,
			Version: spec.Distribution.Version,

			RequiredOnly: spec.Distribution.BaseProviders == v1alpha2.BaseProvidersRequired,
		},
		Variables:     variables(overrides.Env),
		MoreVariables: len(overrides.EnvFrom) > 0,
		Container:     containerOf(obj),
		Offline:       spec.Offline,
	}
	if files := spec.ModelFiles; files != nil {
		in.Files = ModelFiles{Hub: files.HuggingFaceCache != "", Tiktoken: files.TiktokenCache != ""}
	}
	return in
}
