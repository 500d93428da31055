package stackconfig

import (
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// credentials warns of the user's providers that call a service with nothing to show. It is no error: clients may send a
// key of their own with their requests.
func (c *checker) credentials() {
	for _, e := range c.index.entries {
		if e.user == nil || e.incomplete || e.kind == nil || !e.kind.NeedsCredential() || c.hasEndpoint(e.user) || c.hasAnyCredential(e) {
			continue
		}
		remedy := "name its Secret here"
		if variable := c.credentialVariable(e); variable != "" {
			remedy += fmt.Sprintf(", or set the variable %s in spec.secretEnv", variable)
		}
		c.warnf(e.user.Path.Child("apiKey"), "%s calls a service that asks for a credential, and it has none: %s; "+
			"without it, requests fail that do not bring a credential of their own", e.kind.Type, remedy)
	}
}

// hasEndpoint reports whether a provider is sent to a host of the user's choice, which may ask for no credential.
func (c *checker) hasEndpoint(p *intent.Provider) bool {
	e := c.index.find(p.API, p.ID)
	_, inSettings := p.Settings[e.kind.EndpointKey]
	return (p.Endpoint != "" || inSettings) && !e.kind.EndpointIgnored
}

// hasAnyCredential reports whether one of the secret keys of a provider has a value when the server starts.
func (c *checker) hasAnyCredential(e *entry) bool {
	if c.hasKey(e) {
		return true
	}
	for i := range e.kind.Config.Keys {
		key := &e.kind.Config.Keys[i]
		if !key.Secret {
			continue
		}
		if slices.ContainsFunc(key.DefaultVariables, c.isSet) {
			return true
		}
		if value := yamlnode.At(e.node, "config", key.Name); !yamlnode.IsNull(value) && key.Name != e.kind.CredentialKey {
			return true
		}
	}
	return false
}

// credentialVariable is the variable that the credential is taken from; empty when there is none.
func (c *checker) credentialVariable(e *entry) string {
	if found, ok := envref.Lookalike.First(yamlnode.Text(yamlnode.Get(e.node, "config"), e.kind.CredentialKey)); ok {
		return found.Name
	}
	if key, ok := e.kind.Config.Key(e.kind.CredentialKey); ok && len(key.DefaultVariables) > 0 {
		return key.DefaultVariables[0]
	}
	return ""
}
