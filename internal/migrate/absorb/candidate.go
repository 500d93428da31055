package absorb

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// candidate is a set of fields from which the operator might generate the user's configuration.
type candidate struct {
	*builder
	// short selects the field endpoint for a provider's address, instead of a key in settings.
	short bool

	providers, resources, storage, settings object
	disabled, removed                       []string
	env                                     []corev1.EnvVar
	comments                                []Comment
	// placed maps the fields of the spec to the entries of the configuration that they replace.
	placed map[string]string
	// stays lists the parts that no field can replace.
	stays []Reason
}

// derive returns the fields that express the differences between the user's configuration and the base.
func (b *builder) derive(short bool) *candidate {
	c := &candidate{
		builder: b, short: short, providers: object{}, resources: object{}, storage: object{},
		settings: object{}, placed: map[string]string{},
	}
	c.addProviders()
	c.addResources()
	c.addStorage()
	c.addHost()
	c.ensureField()
	return c
}

// attempt finds the fields, generates a configuration from them, and compares it with the user's configuration.
func (b *builder) attempt(short bool) Result {
	c := b.derive(short)
	if len(c.stays) > 0 {
		return Result{Stays: c.stays}
	}
	built, stack, stays := b.render(c)
	from := b.base // If the plan fails, spec.settings may have to add keys that are missing from the base.
	if len(stays) == 0 {
		var err error
		if from, err = read(built.Config); err != nil {
			return Result{Stays: []Reason{reasonOf(err)}}
		}
	}
	if c.patch(from, b.want, nil) || len(stays) > 0 {
		if len(c.stays) > 0 {
			return Result{Stays: c.stays}
		}
		if built, stack, stays = b.render(c); len(stays) > 0 {
			return Result{Stays: stays}
		}
	}
	return c.judge(built, stack)
}

// addHost removes server.host from the generated configuration if the user's configuration does not set it.
func (c *candidate) addHost() {
	if at(c.want, "server", "host") != nil || c.Distribution.Release.Runtime.Host == "" {
		return
	}
	c.removed = append(c.removed, "server.host")
	c.comment("config.yaml does not set server.host. Without the entry server.host in removeSettings, the operator sets the host to "+c.Distribution.Release.Runtime.Host+".",
		"spec", "removeSettings")
}

// ensureField adds a field if the user's configuration is the same as the distribution's, because the operator
// generates no configuration for an empty spec. If no field fits, ensureField records a reason.
func (c *candidate) ensureField() {
	switch {
	case len(c.spec()) > 0:
	case textAt(c.base, "storage", "backends", release.KVDefault, "type") == release.KV+"_sqlite":
		c.storage[release.KV] = object{"type": "sqlite"} // The server keeps using the same file.
	default:
		c.stay("spec.overrideConfig", "is the same as the distribution's own configuration, so no field is needed; remove overrideConfig")
	}
}

// spec returns the fields that are not empty, keyed by name.
func (c *candidate) spec() map[string]any {
	spec := map[string]any{}
	for name, fields := range map[string]object{
		"providers": c.providers, "resources": c.resources, "storage": c.storage, "settings": c.settings,
	} {
		if len(fields) > 0 {
			spec[name] = fields
		}
	}
	for name, list := range map[string][]string{"disabled": c.disabled, "removeSettings": c.removed} {
		if len(list) > 0 {
			items := make([]any, len(list))
			for i := range list {
				items[i] = list[i]
			}
			spec[name] = items
		}
	}
	return spec
}

// stack returns the stack with the fields in place of overrideConfig.
func (c *candidate) stack() (*v1alpha2.LlamaStackDistribution, error) {
	stack := c.Object.DeepCopy()
	stack.Spec.OverrideConfig = nil
	delete(stack.Annotations, names.AnnotationUserConfigNamespace)
	data, err := json.Marshal(c.spec())
	if err != nil {
		return nil, fmt.Errorf("write the fields: %w", err)
	}
	if err := typecheck.Unmarshal(data, &stack.Spec); err != nil {
		return nil, fmt.Errorf("read the fields: %w", err)
	}
	if len(c.env) == 0 {
		return stack, nil
	}
	if stack.Spec.Workload == nil {
		stack.Spec.Workload = &v1alpha2.WorkloadSpec{}
	}
	if stack.Spec.Workload.Overrides == nil {
		stack.Spec.Workload.Overrides = &v1alpha2.WorkloadOverrides{}
	}
	overrides := stack.Spec.Workload.Overrides
	overrides.Env = append(overrides.Env, c.env...)
	return stack, nil
}

// placeOf returns the configuration key that corresponds to a field of the spec. It returns the path of the field if
// the key is unknown.
func (c *candidate) placeOf(path string) string {
	if rest, ok := strings.CutPrefix(path, "spec.settings."); ok {
		return rest
	}
	for i, removed := range c.removed {
		if path == fmt.Sprintf("spec.removeSettings[%d]", i) {
			return removed
		}
	}
	for parent := path; parent != ""; parent = parent[:max(strings.LastIndexAny(parent, ".["), 0)] {
		if place, ok := c.placed[parent]; ok {
			return place + strings.Replace(path[len(parent):], ".settings.", ".config.", 1)
		}
	}
	return path
}

func (c *candidate) comment(text string, at ...string) {
	c.comments = append(c.comments, Comment{At: at, Text: text})
}

// commentSecret adds a comment to a Secret reference. The reference replaces a variable that is set from the Secret.
func (c *candidate) commentSecret(variable string, at ...string) {
	c.comment("In config.yaml, the value is "+envref.To(variable)+
		". This variable gets its value from the Secret key that this field names.", at...)
}

func sortedKeys(values object) []string { return slices.Sorted(maps.Keys(values)) }
