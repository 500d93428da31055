package intent

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// The purposes of a ConfigMap that the spec refers to.
const (
	PurposeBase     Purpose = "Base"
	PurposeOverride Purpose = "Override"
	PurposeCABundle Purpose = "CABundle"
)

// ConfigMapUse is one reference to a ConfigMap in the object's namespace.
type ConfigMapUse struct {
	Name    string
	Keys    []string
	Path    string
	Purpose Purpose
}

// ConfigMaps are all references to ConfigMaps, in the order of the spec's fields.
func ConfigMaps(obj *v1alpha2.LlamaStackDistribution) []ConfigMapUse {
	var uses []ConfigMapUse
	path := field.NewPath("spec")
	if n := obj.Spec.Networking; n != nil && n.TLS != nil && n.TLS.CABundle != nil {
		bundle := n.TLS.CABundle
		keys := bundle.ConfigMapKeys
		if len(keys) == 0 {
			keys = []string{v1alpha2.DefaultCABundleKey}
		}
		uses = append(uses, ConfigMapUse{
			Name: bundle.ConfigMapName, Keys: keys, Purpose: PurposeCABundle,
			Path: path.Child("networking", "tls", "caBundle", "configMapName").String(),
		})
	}
	if base := obj.Spec.BaseConfig; base != nil {
		uses = append(uses, ConfigMapUse{
			Name: base.ConfigMapName, Keys: []string{orDefaultKey(base.Key)}, Purpose: PurposeBase,
			Path: path.Child("baseConfig", "configMapName").String(),
		})
	}
	if override := obj.Spec.OverrideConfig; override != nil {
		uses = append(uses, ConfigMapUse{
			Name: override.ConfigMapName, Keys: []string{orDefaultKey(override.Key)}, Purpose: PurposeOverride,
			Path: path.Child("overrideConfig", "configMapName").String(),
		})
	}
	return uses
}

func orDefaultKey(key string) string {
	if key == "" {
		return v1alpha2.DefaultConfigKey
	}
	return key
}
