package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Configuration compares the whole configuration with the release's data. Anything that would prevent the server from
// starting is an error. A value that the server would silently ignore is a warning if the user wrote it. A base can
// contain additional keys, so an ignored value in a base is a warning only if it is a section that another release
// reads. The parameter `removed` maps each path that spec.removeSettings removed to the entry that removed it.
// Configuration returns the directories that must exist before the server starts.
func Configuration(d *draft.Draft, removed map[string]*field.Path) []string {
	c := checker{Draft: d, Finder: draft.NewFinder(d), choices: make(map[string]string), removed: removed}
	c.rules(c.sections)
	return c.directories()
}

// rules applies the rules for generated configurations and for users' own configurations. Only the check of the
// sections differs.
func (c *checker) rules(sections func()) {
	c.variables()
	misspelled(c.Root, nil, c.warnAt)
	c.apis()
	sections()
	c.unknownTypes()
	c.providers()
	c.unrouted()
	c.credentials()
	c.dependencies()
	c.backends()
	c.authentication()
	c.introspection()
	c.probes()
	c.registeredResources()
	c.startupModels()
	c.references()
	c.modelNames()
}

type checker struct {
	*draft.Draft
	draft.Finder
	// choices caches, by API, the lists of providers that messages contain.
	choices map[string]string
	// models are the registered models. They are set when they are first needed.
	models *publicModels
	// removed maps each path that the user removed from the configuration to the entry that removed it.
	removed map[string]*field.Path
	// own describes the pod that reads a user's own configuration. Nil means that the configuration is generated.
	own *Pod
}

// available returns the providers of an API for a message. It caches the result, because the providers no longer change
// at this step.
func (c *checker) available(api string) string {
	text, known := c.choices[api]
	if !known {
		text = c.AvailableProviders(api)
		c.choices[api] = text
	}
	return text
}

// apis reports APIs with which the server does not start (server fact 53, server fact 54). These are unknown names,
// APIs that have a section of providers but do not accept providers, and APIs that require a provider but do not have
// one.
func (c *checker) apis() {
	providers := yamlnode.Get(c.Root, "providers")
	for i, item := range yamlnode.Items(yamlnode.Get(c.Root, "apis")) {
		api, known := c.Release.API(item.Value)
		path := fmt.Sprintf("apis[%d]", i)
		switch {
		case envref.In(item.Value):
		case !known:
			c.failAt(path, func() string {
				return fmt.Sprintf("server release %s has no API %q%s; correct or remove this entry", c.Release.Line, item.Value, c.OtherRelease(item.Value))
			})
		case api.NeedsProvider && yamlnode.Len(yamlnode.Get(providers, item.Value)) == 0:
			c.failAt(path, func() string {
				return fmt.Sprintf("%q has no provider, and the server does not start without a provider of this API; %s or %s",
					item.Value, c.addProvider(item.Value), c.eitherWay("disable the API", "remove the API from apis"))
			})
		}
	}
	for i := 0; i+1 < len(providers.Content); i += 2 {
		name := providers.Content[i].Value
		if api, known := c.Release.API(name); !known || !api.Providable {
			c.failAt("providers."+name, func() string {
				return fmt.Sprintf("server release %s has no API %q that accepts providers%s; correct or remove this section", c.Release.Line, name, c.OtherRelease(name))
			})
		}
	}
}

// addProvider returns the remedy for an API without a provider.
func (c *checker) addProvider(api string) string {
	return "add a provider to " + c.eitherWay("spec.providers."+draft.APIField(api), "providers."+api)
}

// eitherWay returns a remedy for a generated configuration, or the one for a user's own configuration.
func (c *checker) eitherWay(generated, own string) string {
	if c.own != nil {
		return own
	}
	return generated
}

// sections checks everything except the backends and the configs of providers.
func (c *checker) sections() {
	problems := c.Release.TopLevel.Check(c.Root)
	for i := range problems {
		// The function backendTypes checks each backend against its type, because the resulting message is clearer than "one
		// of these".
		if !strings.HasPrefix(problems[i].Path, backendsPath) {
			c.problem(&problems[i], problems[i].Path)
			c.warnIgnoredSection(&problems[i])
		}
	}
}

const backendsPath = "storage.backends."

// authentication reports an error if the health check requires a token with this configuration (server fact 34). The
// probes would always fail, and the kubelet would restart the pod repeatedly.
func (c *checker) authentication() {
	if c.Release.Runtime.HealthNeedsToken && !c.Intent.Container.ReadinessProbe &&
		!yamlnode.IsNull(yamlnode.At(c.Root, "server", "auth")) {
		c.failAt("server.auth", func() string {
			return fmt.Sprintf(
				"makes the health check of server release %s require a token, which probes do not send, so the server is never ready: remove server.auth, or use release %s or later",
				c.Release.Line, release.FirstLineWithOpenHealthCheck())
		})
	}
}
