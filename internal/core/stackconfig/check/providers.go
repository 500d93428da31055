package check

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Providers checks only the configs of the providers, as Configuration does.
func Providers(d *draft.Draft) {
	c := checker{Draft: d, Finder: draft.NewFinder(d)}
	c.providers()
}

// providers reports types that do not start and repeated IDs, and checks each enabled provider's config against its
// type. It skips a type without known facts, because only the server in the image that provides the type can check this
// config.
func (c *checker) providers() {
	c.scoring()
	seen := make(map[[2]string]bool, len(c.Index.Providers))
	for path, e := range c.Index.All {
		key := [2]string{e.API, e.ID}
		if seen[key] && e.Enabled {
			c.Warn(draft.Finding{ConfigPath: path, Message: fmt.Sprintf("the ID %q is used twice, and the server uses the last provider with this ID; change one of the IDs", e.ID)})
		}
		seen[key] = true
		if e.Kind == nil || !e.Enabled {
			continue
		}
		if e.Kind.Broken != "" {
			c.failAt(path, func() string {
				remedy := fmt.Sprintf("disable this provider by adding %s/%s to spec.disabled", draft.APIField(e.API), e.ID)
				return fmt.Sprintf("%s does not start in server release %s; %s, and %s",
					e.Kind.Type, c.Release.Line, c.eitherWay(remedy, "remove this provider"), e.Kind.Broken)
			})
			continue
		}
		c.providerConfig(e, path+".config")
	}
}

// unrouted warns about the user's providers that the server does not use. If the server does not route the requests of
// an API to several providers, it uses only the last provider (server fact 79).
func (c *checker) unrouted() {
	last := make(map[string]*draft.Provider)
	for _, e := range c.Index.Providers {
		api, known := c.Release.API(e.API)
		if !known || api.RoutingTable != "" || !e.Enabled {
			continue
		}
		earlier := last[e.API]
		last[e.API] = e
		if earlier != nil && earlier.Path() != nil && earlier.ID != e.ID {
			c.Warnf(earlier.Path(), "the server uses only the last provider for the API %s, which is %q, and ignores %q; remove one of them", draft.APIField(e.API), e.ID, earlier.ID)
		}
	}
}

// providerConfig checks the config of the provider at a path against its type.
func (c *checker) providerConfig(e *draft.Provider, path string) {
	problems := e.Kind.Config.Check(c.withVariables(yamlnode.Get(e.Node, "config")))
	for i := range problems {
		c.providerProblem(e, &problems[i], path)
	}
}

// scoring reports two providers of the same type that register the same scoring functions, because the server does not
// start with them (server fact 61).
func (c *checker) scoring() {
	if c.Release.Runtime.RegistryReplaces {
		return
	}
	first := make(map[[2]string]*draft.Provider)
	for _, e := range c.Index.Providers {
		api, _ := c.Release.API(e.API)
		if api.RoutingTable != "scoring_functions" || !e.Enabled || e.ProviderType == externalprovider.UnknownType {
			continue
		}
		key := [2]string{e.API, e.ProviderType}
		other := first[key]
		if other == nil {
			first[key] = e
			continue
		}
		const same = "%s is also the type of the provider %q; both providers register the same functions, so the server does not start; "
		switch path := e.Path(); {
		case path == nil || e.ID == other.ID:
		case e.External != nil && other.External != nil:
			c.Failf(path, same+"remove one of the two providers", e.ProviderType, other.ID)
		default:
			c.Failf(path, same+"give this provider the ID %q, or disable %s/%s", e.ProviderType, other.ID, other.ID, draft.APIField(e.API), other.ID)
		}
	}
}

// providerProblem reports a problem with its remedy. It reports a missing endpoint or credential at the field of the
// spec that sets it.
func (c *checker) providerProblem(e *draft.Provider, p *schema.Problem, path string) {
	unset := e.User != nil && c.fromUnset(draft.JoinPath(path, p.Path))
	if e.Incomplete && (unset || p.Kind == schema.MissingKey) {
		return // the key has no value because its field has an error, which is already reported
	}
	if unset {
		c.unsetKey(e, p, draft.JoinPath(path, p.Path))
		return
	}
	if at := draft.JoinPath(path, p.Path); e.User != nil && p.Fatal && yamlnode.Get(c.NodeAt(at), "secretKeyRef") != nil {
		c.failAt(at, func() string {
			return p.Message() + "; for the value of a Secret, use secretRefs, or set a variable in spec.secretEnv and write ${env.NAME} here"
		})
		return
	}
	if p.Kind != schema.MissingKey || e.User == nil {
		c.problem(p, draft.JoinPath(path, p.Path))
		return
	}
	field := e.User.Path
	switch p.Path {
	case e.Kind.EndpointKey:
		c.Failf(field.Child("endpoint"), "required: %s does not start without an endpoint; set the URL of the service here", e.Kind.Type)
	case e.Kind.CredentialKey:
		c.Failf(field.Child("apiKey"), "required: %s does not start without a credential; name a Secret here", e.Kind.Type)
	default:
		c.Failf(field.Child("settings"), "%s does not start without the key %q (%s); set the key here or in secretRefs", e.Kind.Type, p.Path, p.Want)
	}
}

// fromUnset reports whether a value from the base is unusable because the value reads a variable that is not set.
func (c *checker) fromUnset(path string) bool {
	return c.unsetNote(path) != "" && c.OriginAt(path) == draft.FromBase
}

// unsetKey reports an error for a key in a user's provider if the key's value comes from the base and reads a variable
// that is not set. The remedy is to set the field or the variable.
func (c *checker) unsetKey(e *draft.Provider, p *schema.Problem, path string) {
	at, what := e.User.Path.Child("settings"), fmt.Sprintf("the key %q", p.Path)
	switch p.Path {
	case e.Kind.EndpointKey:
		at, what = e.User.Path.Child("endpoint"), "an endpoint"
	case e.Kind.CredentialKey:
		at, what = e.User.Path.Child("apiKey"), "a credential"
	}
	variable, _ := envref.Lookalike.First(c.NodeAt(path).Value)
	c.Failf(at, "required: %s does not start without %s; set the value here, or set the variable %s, which the base reads, in spec.secretEnv or spec.workload.overrides.env",
		e.Kind.Type, what, variable.Name)
}

// dependencies reports missing APIs that providers need, because the server does not start without them.
func (c *checker) dependencies() {
	for _, m := range MissingAPIs(c.Draft) {
		c.failAt(c.pathOf(m.by[0]), func() string {
			verb := "requires"
			if len(m.by) > 1 {
				verb = "require"
			}
			return fmt.Sprintf("%s %s the API %s; %s", m.Names(), verb,
				c.eitherWay(draft.APIField(m.API), m.API), c.addProvider(m.API))
		})
	}
}

// pathOf returns the path of a provider in the configuration. If the configuration does not have the provider, pathOf
// returns the path of its API.
func (c *checker) pathOf(e *draft.Provider) string {
	for i, item := range yamlnode.Items(yamlnode.At(c.Root, "providers", e.API)) {
		if item == e.Node {
			return fmt.Sprintf("providers.%s[%d]", e.API, i)
		}
	}
	return "providers." + e.API
}
