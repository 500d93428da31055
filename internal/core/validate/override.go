package validate

// overrideExcludes checks FR-013 and FR-070: a stack with overrideConfig must not set fields that generate a
// configuration, because overrideConfig sets the complete configuration.
func overrideExcludes(c *checks) {
	s := &c.Spec
	if s.OverrideConfig == nil {
		return
	}
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
			c.Forbidden(spec(other.field),
				`cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap %q): remove %s or overrideConfig`,
				s.OverrideConfig.ConfigMapName, other.field)
		}
	}
}

func overrideReference(c *checks) {
	if o := c.Spec.OverrideConfig; o != nil {
		c.configMapKey(spec("overrideConfig"), o.ConfigMapName, o.Key)
	}
}

func baseReference(c *checks) {
	if b := c.Spec.BaseConfig; b != nil {
		c.configMapKey(spec("baseConfig"), b.ConfigMapName, b.Key)
	}
}
