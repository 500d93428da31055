package intent

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// These are the purposes of a ConfigMap that the spec refers to.
const (
	PurposeBase     Purpose = "Base"
	PurposeOverride Purpose = "Override"
	PurposeCABundle Purpose = "CABundle"
	// PurposeTrustedCA is the purpose of certificates that a platform provides in a namespace for all workloads.
	PurposeTrustedCA Purpose = "TrustedCA"
)

// ConfigMapUse is one reference to a ConfigMap.
type ConfigMapUse struct {
	// Namespace is the namespace of the ConfigMap, if it differs from the object's namespace. Empty means the object's
	// namespace.
	Namespace string
	Name      string
	// Keys are the required keys.
	Keys []string
	// AnyOf lists keys, at least one of which is required. Empty means that no such key is required.
	AnyOf []string
	// Whole reports whether the stack uses all keys.
	Whole bool
	// Optional reports whether the ConfigMap may be missing.
	Optional bool
	// NoOther reports whether the ConfigMap must come from Namespace. If NoOther is false and the ConfigMap in Namespace
	// does not exist or cannot be read, the ConfigMap with the same name in the object's namespace replaces it.
	NoOther bool
	Path    string
	Purpose Purpose
}

// TrustedCA returns the ConfigMap in which a platform provides the certificates to trust in a namespace. It returns nil
// for a stack that configures its own trusted certificates, except for a v1alpha1 stack. Such a stack has always
// trusted both its own certificates and the certificates of the platform.
func TrustedCA(obj *v1alpha2.LlamaStackDistribution) []ConfigMapUse {
	if caBundle(&obj.Spec) != nil && !profile.Of(obj.Annotations).TrustsPlatform {
		return nil
	}
	return []ConfigMapUse{{Name: names.TrustedCABundle, Whole: true, Optional: true, Purpose: PurposeTrustedCA}}
}

func caBundle(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.CABundleSpec {
	if spec.Networking == nil || spec.Networking.TLS == nil {
		return nil
	}
	return spec.Networking.TLS.CABundle
}

// ConfigMaps returns all references to ConfigMaps, in the order of the spec's fields.
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
	if obj.Spec.OverrideConfig != nil {
		uses = append(uses, OverrideUse(obj))
	}
	return uses
}

// OverrideUse returns the reference in overrideConfig. The object must have an overrideConfig.
func OverrideUse(obj *v1alpha2.LlamaStackDistribution) ConfigMapUse {
	override := obj.Spec.OverrideConfig
	use := ConfigMapUse{
		Namespace: elsewhere(obj, names.AnnotationUserConfigNamespace),
		Name:      override.ConfigMapName, Purpose: PurposeOverride,
		Whole: profile.Of(obj.Annotations).MountsConfigMap,
		Path:  field.NewPath("spec", "overrideConfig", "configMapName").String(),
	}
	switch {
	case override.Key != "" || !use.Whole:
		use.Keys = []string{cmp.Or(override.Key, v1alpha2.DefaultConfigKey)}
	case use.Namespace != "" || !OwnCommand(&obj.Spec): // the user's own command can read any file
		use.AnyOf = []string{names.ConfigFile, names.OlderConfigFile}
	}
	return use
}

// elsewhere returns the namespace in an annotation, or an empty string if it is the object's own namespace.
func elsewhere(obj *v1alpha2.LlamaStackDistribution, annotation string) string {
	if namespace := obj.Annotations[annotation]; namespace != obj.Namespace {
		return namespace
	}
	return ""
}

// ID returns the name of the ConfigMap, or <namespace>/<name> if the ConfigMap is not in the namespace of the object.
func (u ConfigMapUse) ID() string {
	if u.Namespace == "" {
		return u.Name
	}
	return u.Namespace + "/" + u.Name
}

// NeededKeys returns the keys that the stack uses, or nil if it uses all keys.
func (u ConfigMapUse) NeededKeys() []string {
	if u.Whole {
		return nil
	}
	return slices.Concat(u.Keys, u.AnyOf)
}

// Here returns the reference to the ConfigMap with the same name in the object's own namespace.
func (u ConfigMapUse) Here() ConfigMapUse {
	u.Namespace = ""
	return u
}

// OverrideKey returns the key with the configuration in overrideConfig's ConfigMap. For a v1alpha1 stack, the key can
// also be the name of the file that was used up to server release 0.3.
func OverrideKey(obj *v1alpha2.LlamaStackDistribution, files map[string][]byte) string {
	if key := obj.Spec.OverrideConfig.Key; key != "" {
		return key
	}
	_, usual := files[names.ConfigFile]
	_, older := files[names.OlderConfigFile]
	if profile.Of(obj.Annotations).MountsConfigMap && !usual && older {
		return names.OlderConfigFile
	}
	return v1alpha2.DefaultConfigKey
}

// Overrides returns the overrides of the pods, or empty overrides if the spec has no overrides.
func Overrides(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.WorkloadOverrides {
	if spec.Workload == nil || spec.Workload.Overrides == nil {
		return &v1alpha2.WorkloadOverrides{}
	}
	return spec.Workload.Overrides
}

// OwnCommand reports whether the server is started by the user's command instead of the image's entrypoint.
func OwnCommand(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return len(Overrides(spec).Command) > 0
}
