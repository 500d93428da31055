package stackconfig

import (
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// aliases writes the names that other releases use for the same settings, for a server whose release is unknown. A
// server ignores a key that it does not recognize, so one file works in all releases from 0.3 on (server fact 2).
// aliases runs after the `check` step, which would report the names of other releases as mistakes.
func aliases(d *draft.Draft) {
	if !d.Unknown {
		return
	}
	origin := draft.Origin{Note: "for other releases"}
	for _, e := range d.Index.Providers {
		if e.User != nil && e.Enabled && e.Kind != nil {
			providerAliases(d, e)
		}
	}
	for _, key := range release.DistributionKeys() {
		if yamlnode.Text(d.Root, key) == "" {
			d.Write(draft.Under(d.Root, key), yamlnode.String(d.Distribution), origin)
		}
	}
	s := yamlnode.Get(d.Root, "server")
	if yamlnode.Text(s, "tls_certfile") == "" && yamlnode.Get(s, "insecure") == nil {
		d.Write(draft.Under(s, "insecure"), yamlnode.Bool(true), origin)
	}
}

// providerAliases sets the endpoint and the credential of a user's provider under every key that any release has for
// its type. It does nothing if a release rejects an unknown key or passes the key on to a library.
func providerAliases(d *draft.Draft, e *draft.Provider) {
	all := release.AliasesOf(e.API, e.Kind.Type)
	config := yamlnode.Get(e.Node, "config")
	if all.Strict || config == nil {
		return
	}
	absent := func(key string) bool { return yamlnode.Get(config, key) == nil }
	if e.User.Endpoint != "" && e.Kind.PortKey == "" {
		for _, other := range all.Endpoints {
			if absent(other.Key) && other.Type.PortKey == "" {
				put(d, config, other.Key, other.Type.Endpoint(e.User.Endpoint), draft.From(e.User.Path.Child("endpoint")))
			}
		}
	}
	if e.User.APIKey != nil {
		for _, key := range all.Credentials {
			if absent(key) {
				put(d, config, key, envref.To(e.User.APIKey.EnvVar), draft.From(e.User.APIKey.Path))
			}
		}
	}
}

func put(d *draft.Draft, mapping *yaml.Node, key, text string, origin draft.Origin) {
	d.Write(draft.Under(mapping, key), yamlnode.String(text), origin)
}
