package intent

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// The purposes of a ConfigMap that the spec refers to.
const (
	PurposeBase     Purpose = "Base"
	PurposeOverride Purpose = "Override"
	PurposeCABundle Purpose = "CABundle"
	// PurposeTrustedCA is what a platform puts into a namespace for everybody to trust.
	PurposeTrustedCA Purpose = "TrustedCA"
)

// ConfigMapUse is one reference to a ConfigMap.
type ConfigMapUse struct {
	// Namespace is another one than the object's. Empty: the object's.
	Namespace string
	Name      string
	// Keys are all needed.
	Keys []string
	// AnyOf are keys of which one is needed. Empty: none.
	AnyOf []string
	// Optional: it is used when it is there.
	Optional bool
	// NoOther keeps the ConfigMap of the same name in the object's namespace from taking the place of one in another
	// namespace that may not be read.
	NoOther bool
	Path    string
	Purpose Purpose
}

// TrustedCA is the ConfigMap by which a platform tells a namespace what to trust. A stack that says itself what it
// trusts takes no notice of it; one of v1alpha1 trusts both, as ever.
func TrustedCA(obj *v1alpha2.LlamaStackDistribution) []ConfigMapUse {
	if caBundle(&obj.Spec) != nil && !names.Compat(obj.Annotations) {
		return nil
	}
	return []ConfigMapUse{{Name: names.TrustedCABundle, Optional: true, Purpose: PurposeTrustedCA}}
}

func caBundle(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.CABundleSpec {
	if spec.Networking == nil || spec.Networking.TLS == nil {
		return nil
	}
	return spec.Networking.TLS.CABundle
}

// ConfigMaps are all references to ConfigMaps, in the order of the spec's fields.
func ConfigMaps(obj *v1alpha2.LlamaStackDistribution) []ConfigMapUse {
	var uses []ConfigMapUse
	path := field.NewPath("spec")
	if bundle := caBundle(&obj.Spec); bundle != nil {
		keys := bundle.ConfigMapKeys
		if len(keys) == 0 {
			keys = []string{v1alpha2.DefaultCABundleKey}
		}
		uses = append(uses, ConfigMapUse{
			Namespace: elsewhere(obj, names.AnnotationCABundleNamespace),
			Name:      bundle.ConfigMapName, Keys: keys, Purpose: PurposeCABundle,
			Path: path.Child("networking", "tls", "caBundle", "configMapName").String(),
		})
	}
	if base := obj.Spec.BaseConfig; base != nil {
		uses = append(uses, ConfigMapUse{
			Name: base.ConfigMapName, Keys: []string{cmp.Or(base.Key, v1alpha2.DefaultConfigKey)}, Purpose: PurposeBase,
			Path: path.Child("baseConfig", "configMapName").String(),
		})
	}
	if override := obj.Spec.OverrideConfig; override != nil {
		use := ConfigMapUse{
			Namespace: elsewhere(obj, names.AnnotationUserConfigNamespace),
			Name:      override.ConfigMapName, Purpose: PurposeOverride,
			Path: path.Child("overrideConfig", "configMapName").String(),
		}
		switch {
		case override.Key != "" || !names.Compat(obj.Annotations):
			use.Keys = []string{cmp.Or(override.Key, v1alpha2.DefaultConfigKey)}
		case use.Namespace != "" || !OwnCommand(&obj.Spec): // a command of the user's own knows which file it reads
			use.AnyOf = []string{names.ConfigFile, names.OlderConfigFile}
		}
		uses = append(uses, use)
	}
	return uses
}

// elsewhere is the namespace that an annotation names, where it is another one.
func elsewhere(obj *v1alpha2.LlamaStackDistribution, annotation string) string {
	if namespace := obj.Annotations[annotation]; namespace != obj.Namespace {
		return namespace
	}
	return ""
}

// ID tells ConfigMaps apart: the name, or namespace and name of one in another namespace.
func (u ConfigMapUse) ID() string {
	if u.Namespace == "" {
		return u.Name
	}
	return u.Namespace + "/" + u.Name
}

// Here is the use of the ConfigMap of the same name in the object's own namespace.
func (u ConfigMapUse) Here() ConfigMapUse {
	u.Namespace = ""
	return u
}

// OverrideUse is the reference of overrideConfig, which the object has.
func OverrideUse(obj *v1alpha2.LlamaStackDistribution) ConfigMapUse {
	uses := ConfigMaps(obj)
	return uses[slices.IndexFunc(uses, func(use ConfigMapUse) bool { return use.Purpose == PurposeOverride })]
}

// OverrideKey is the key of overrideConfig's ConfigMap that holds the configuration. A ConfigMap of a stack of v1alpha1
// may have it under the name that the file had up to release 0.3.
func OverrideKey(obj *v1alpha2.LlamaStackDistribution, files map[string][]byte) string {
	if key := obj.Spec.OverrideConfig.Key; key != "" {
		return key
	}
	_, usual := files[names.ConfigFile]
	_, older := files[names.OlderConfigFile]
	if names.Compat(obj.Annotations) && !usual && older {
		return names.OlderConfigFile
	}
	return v1alpha2.DefaultConfigKey
}

// Overrides are those of the pods; nothing is set where there are none.
func Overrides(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.WorkloadOverrides {
	if spec.Workload == nil || spec.Workload.Overrides == nil {
		return &v1alpha2.WorkloadOverrides{}
	}
	return spec.Workload.Overrides
}

// OwnCommand reports whether the user starts the server, and not the image's entrypoint.
func OwnCommand(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return len(Overrides(spec).Command) > 0
}
