package check

import (
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// credentials warns about the user's providers that call a service without a credential or without its address. A
// missing credential is not an error, because clients can send their own credential with their requests.
func (c *checker) credentials() {
	for _, e := range c.Index.Providers {
		c.password(e)
		if e.User != nil && !e.Incomplete && e.Kind != nil && e.Kind.EndpointNeeded && !c.hasValue(e, e.Kind.EndpointKey) {
			c.Warnf(e.User.Path.Child("endpoint"), "%s has no default address, and none is set, so requests fail: set the address here", e.Kind.Type)
		}
		if e.User == nil || e.Incomplete || e.Kind == nil || !e.Kind.NeedsCredential() || c.hasEndpoint(e.User) ||
			c.hasAnyCredential(e) {
			continue
		}
		remedy := "name a Secret here"
		if variable := c.credentialVariable(e); variable != "" {
			remedy += fmt.Sprintf(", or set the variable %s in spec.secretEnv", variable)
		}
		c.Warnf(e.User.Path.Child("apiKey"), "%s calls a service that requires a credential, and none is set: %s; "+
			"without a credential, requests that do not contain their own credential fail", e.Kind.Type, remedy)
	}
}

// password warns about a user's provider that logs in to a service with a name and without a password. The service can
// trust its clients, so this is not an error.
func (c *checker) password(e *draft.Provider) {
	const key = "password"
	if e.User == nil || e.Incomplete || e.Kind == nil || !e.Kind.IsRemote() {
		return
	}
	known, ok := e.Kind.Config.Key(key)
	config := yamlnode.Get(e.Node, "config")
	if !ok || !known.Secret || slices.ContainsFunc(known.DefaultVariables, c.IsSet) ||
		yamlnode.IsNull(yamlnode.Get(config, "user")) || !yamlnode.IsNull(yamlnode.Get(config, key)) {
		return
	}
	at, place := e.User.Path.Child("secretRefs"), "secretRefs.password"
	if e.Kind.CredentialKey == key {
		at, place = e.User.Path.Child("apiKey"), "apiKey"
	}
	c.Warnf(at, "%s logs in with a user and without a password of its own, which most servers reject: name a Secret in %s",
		e.Kind.Type, place)
}

// hasEndpoint reports whether the user set the host of a provider. Such a host might not need a credential.
func (c *checker) hasEndpoint(p *intent.Provider) bool {
	e := c.Index.Find(p.API, p.ID)
	_, inSettings := p.Settings[e.Kind.EndpointKey]
	return (p.Endpoint != "" || inSettings) && !e.Kind.EndpointIgnored
}

// hasValue reports whether a key of a provider has a value when the server starts, or can have one.
func (c *checker) hasValue(e *draft.Provider, key string) bool {
	value := yamlnode.At(e.Node, "config", key)
	if c.Intent.MoreVariables || yamlnode.IsNull(value) {
		known, _ := e.Kind.Config.Key(key)
		return c.Intent.MoreVariables || slices.ContainsFunc(known.DefaultVariables, c.IsSet)
	}
	text, replaced := c.StartupText(value)
	return !replaced || text != ""
}

// hasAnyCredential reports whether at least one secret key of a provider has a value when the server starts.
func (c *checker) hasAnyCredential(e *draft.Provider) bool {
	if c.hasKey(e) {
		return true
	}
	for i := range e.Kind.Config.Keys {
		key := &e.Kind.Config.Keys[i]
		if !key.Secret {
			continue
		}
		if slices.ContainsFunc(key.DefaultVariables, c.IsSet) {
			return true
		}
		if value := yamlnode.At(e.Node, "config", key.Name); !yamlnode.IsNull(value) && key.Name != e.Kind.CredentialKey {
			return true
		}
	}
	return false
}

// credentialVariable returns the variable that holds the credential, or an empty string when there is none.
func (c *checker) credentialVariable(e *draft.Provider) string {
	if found, ok := envref.Lookalike.First(yamlnode.Text(yamlnode.Get(e.Node, "config"), e.Kind.CredentialKey)); ok {
		return found.Name
	}
	if key, ok := e.Kind.Config.Key(e.Kind.CredentialKey); ok && len(key.DefaultVariables) > 0 {
		return key.DefaultVariables[0]
	}
	return ""
}
