package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// overrideExcludes holds FR-013 and FR-070: a whole configuration leaves nothing
// for the fields that build one.
func overrideExcludes(obj *object) field.ErrorList {
	s := &obj.Spec
	if s.OverrideConfig == nil {
		return nil
	}
	var errs field.ErrorList
	for _, other := range []struct {
		field string
		given bool
	}{
		{"providers", s.Providers != nil},
		{"resources", s.Resources != nil},
		{"storage", s.Storage != nil},
		{"disabled", s.Disabled != nil},
		{"settings", s.Settings != nil},
		{"removeSettings", s.RemoveSettings != nil},
		{"baseConfig", s.BaseConfig != nil},
	} {
		if other.given {
			errs = append(errs, field.Forbidden(spec(other.field), fmt.Sprintf(
				`excluded by overrideConfig, which is the whole configuration (ConfigMap %q): remove %s or overrideConfig`,
				s.OverrideConfig.ConfigMapName, other.field)))
		}
	}
	return errs
}

func overrideReference(obj *object) field.ErrorList {
	if o := obj.Spec.OverrideConfig; o != nil {
		return configMapKey(spec("overrideConfig"), o.ConfigMapName, o.Key)
	}
	return nil
}

func baseReference(obj *object) field.ErrorList {
	if b := obj.Spec.BaseConfig; b != nil {
		return configMapKey(spec("baseConfig"), b.ConfigMapName, b.Key)
	}
	return nil
}
