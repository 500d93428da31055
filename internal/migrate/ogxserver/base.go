package ogxserver

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

// baseConfig is the part of a distribution's configuration that a conversion needs.
type baseConfig struct {
	Providers map[string][]struct {
		ID string `yaml:"provider_id"`
	} `yaml:"providers"`
	Registered struct {
		Models []any `yaml:"models"`
	} `yaml:"registered_resources"`
}

// readBase decodes an embedded configuration. It returns nil if there is none or it is invalid.
func readBase(data []byte) *baseConfig {
	base := &baseConfig{}
	if data == nil || yaml.Unmarshal(data, base) != nil {
		return nil
	}
	return base
}

// disabled writes spec.disabled: the disabled APIs of the OGXServer, and the base providers that the providers of the
// OGXServer replace.
func (c *conversion) disabled() {
	list, _ := runtime.DeepCopyJSONValue(c.get("spec.disabledAPIs")).([]any)
	if list != nil {
		c.went(path("spec.disabledAPIs"), path("spec.disabled"))
	}
	if c.base == nil {
		c.baseUnknown()
	}
	replaced := c.replaced(list)
	for _, provider := range replaced {
		list = append(list, provider)
	}
	if len(list) > 0 {
		c.put(list, "spec", "disabled")
	}
	if len(replaced) > 0 {
		c.note("The providers that an OGXServer lists for an API replace all of the distribution's providers for that API. "+
			"In a stack, the distribution's providers also remain available, so this list disables them. "+
			"To use one of the distribution's providers, remove that provider from the list.", "spec", "disabled")
	}
}

// baseUnknown adds a warning for a base that is not known: the user must disable the base providers that the providers
// of the OGXServer replace.
func (c *conversion) baseUnknown() {
	if len(c.taken) > 0 {
		c.differs("The providers that an OGXServer lists for an API replace all of the base configuration's providers for that API. "+
			"In a stack, each provider in the base configuration remains unless spec.providers contains a provider with the same ID. "+
			"To disable the remaining providers, add an entry for each of them to spec.disabled, for example inference/openai.", "spec", "providers")
	}
}

// replaced returns the base providers that the providers of the OGXServer replace. It omits the providers of disabled
// APIs.
func (c *conversion) replaced(disabled []any) []string {
	if c.base == nil {
		return nil
	}
	var found []string
	for _, api := range apis {
		if len(c.taken[api.server]) == 0 || slices.Contains(disabled, any(api.server)) {
			continue
		}
		for _, provider := range c.base.Providers[api.server] {
			if id, _ := envref.Static(provider.ID); !slices.Contains(c.taken[api.server], id) {
				found = append(found, api.server+"/"+id)
			}
		}
	}
	return found
}

// models converts the models to register. It assigns a model without a provider to the same provider as an OGXServer
// does.
func (c *conversion) models() {
	models, _ := runtime.DeepCopyJSONValue(c.get("spec.resources.models")).([]any)
	if len(models) == 0 {
		return
	}
	c.put(models, "spec", "resources", "models")
	c.went(path("spec.resources.models"), path("spec.resources.models"))
	if c.base == nil || len(c.base.Registered.Models) > 0 {
		c.differs("In an OGXServer, these models replace the models that the base configuration registers. "+
			"In a stack, the models in the base configuration also remain registered if their providers exist.",
			"spec", "resources", "models")
	}
	for i, value := range models {
		if model, _ := value.(map[string]any); model["provider"] == nil || model["provider"] == "" {
			c.defaultProvider(model, "spec", "resources", "models", strconv.Itoa(i))
		}
	}
}

// defaultProvider sets the provider to which an OGXServer assigns a model without a provider: the inference provider
// whose ID is alphabetically first. If the OGXServer has no inference providers, defaultProvider adds a warning
// instead.
func (c *conversion) defaultProvider(model map[string]any, at ...string) {
	ids := c.taken["inference"]
	if len(ids) == 0 {
		c.differs("This model has no provider. A stack assigns such a model to the first provider in the base configuration, "+
			"and an OGXServer assigns it to the alphabetically first provider. Set the model's provider.", append(at, "name")...)
		return
	}
	model["provider"] = slices.Min(ids)
	c.note("An OGXServer assigns a model without a provider to the alphabetically first provider.", append(at, "provider")...)
}
