package stackconfig

import (
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// spellings writes, for a server whose release nobody knows, what other releases
// call the same thing: a server ignores a key that it does not know (SERVER.md
// fact 2), so that one file starts on all of them from 0.3 on. It comes after the
// check, which would take the other names for mistakes.
func spellings(d *draft) {
	if !d.unknown {
		return
	}
	origin := Origin{Note: "for other releases"}
	for _, e := range d.index.entries {
		if e.user != nil && e.enabled && e.kind != nil {
			d.spellings(e)
		}
	}
	for _, key := range release.DistributionKeys() {
		if yamlnode.Text(d.root, key) == "" {
			d.write(under(d.root, key), yamlnode.String(d.distribution), origin)
		}
	}
	s := yamlnode.Get(d.root, "server")
	if yamlnode.Text(s, "tls_certfile") == "" && yamlnode.Get(s, "insecure") == nil {
		d.write(under(s, "insecure"), yamlnode.Bool(true), origin)
	}
}

// spellings gives a user's provider the endpoint and the credential under every
// name that its type has for them, unless one that is not known would be handed on
// or refused.
func (d *draft) spellings(e *entry) {
	all := release.SpellingsOf(e.api, e.kind.Type)
	config := yamlnode.Get(e.node, "config")
	if all.Strict || config == nil {
		return
	}
	absent := func(key string) bool { return yamlnode.Get(config, key) == nil }
	if e.user.Endpoint != "" && e.kind.EndpointParts.Port == "" {
		for _, other := range all.Endpoints {
			if absent(other.Key) && other.Type.EndpointParts.Port == "" {
				d.put(config, other.Key, other.Type.Endpoint(e.user.Endpoint), from(e.user.Path.Child("endpoint")))
			}
		}
	}
	if e.user.APIKey != nil {
		for _, key := range all.Credentials {
			if absent(key) {
				d.put(config, key, envref.To(e.user.APIKey.EnvVar), from(e.user.APIKey.Path))
			}
		}
	}
}

func (d *draft) put(mapping *yaml.Node, key, text string, origin Origin) {
	d.write(under(mapping, key), yamlnode.String(text), origin)
}
