package absorb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
)

// addProviders adds the providers that differ from the base, and disables the providers that were removed.
func (c *candidate) addProviders() {
	theirs, ours := objectAt(c.want, "providers"), objectAt(c.base, "providers")
	for _, api := range sortedKeys(theirs) {
		c.addAPI(api, listAt(theirs, api), listAt(ours, api))
	}
	for _, api := range sortedKeys(ours) {
		if _, there := theirs[api]; !there {
			c.disabled = append(c.disabled, draft.APIField(api))
		}
	}
	for _, listed := range listAt(c.base, "apis") {
		api, _ := listed.(string)
		_, provided := ours[api]
		if !provided && !slices.Contains(listAt(c.want, "apis"), listed) {
			c.disabled = append(c.disabled, draft.APIField(api))
		}
	}
}

// addAPI compares the providers of one API by their IDs.
func (c *candidate) addAPI(api string, theirs, ours []any) {
	kept, own := make(map[string]bool), []any(nil)
	for i, entry := range theirs {
		id := textAt(entry, "provider_id")
		static, condition := envref.Static(id)
		base := byID(ours, static)
		kept[static] = true
		switch {
		case base != nil && equal(base, entry):
			continue
		case condition != "" || static != id:
			c.stay(fmt.Sprintf("providers.%s[%d].provider_id", api, i), "no field can hold an ID that contains a variable")
			continue
		}
		path := fmt.Sprintf("providers.%s[%d]", api, i)
		c.placed[fmt.Sprintf("spec.providers.%s[%d]", draft.APIField(api), len(own))] = path
		own = append(own, c.provider(api, entry, path, strconv.Itoa(len(own))))
	}
	for _, entry := range ours {
		if static, _ := envref.Static(textAt(entry, "provider_id")); !kept[static] {
			c.disabled = append(c.disabled, draft.APIField(api)+"/"+static)
		}
	}
	c.setProviders(api, own)
}

// setProviders writes a single provider as an object, and several providers as a list.
func (c *candidate) setProviders(api string, own []any) {
	field := draft.APIField(api)
	switch {
	case len(own) == 0:
		return
	case intent.APIField(api) == "":
		c.stay("providers."+api, "the spec has no field for this API")
		return
	case len(own) > 1:
		c.providers[field] = own
		return
	}
	c.providers[field] = own[0]
	c.placed["spec.providers."+field] = c.placed["spec.providers."+field+"[0]"]
	for i := range c.comments { // the path of a single provider has no index
		if at := c.comments[i].At; len(at) > 3 && at[1] == "providers" && at[2] == field {
			c.comments[i].At = slices.Delete(slices.Clone(at), 3, 4)
		}
	}
}

func byID(entries []any, id string) any {
	for _, entry := range entries {
		if static, _ := envref.Static(textAt(entry, "provider_id")); static == id {
			return entry
		}
	}
	return nil
}

// provider returns an entry in the form that the spec uses.
func (c *candidate) provider(api string, entry any, path, index string) object {
	id, full := textAt(entry, "provider_id"), textAt(entry, "provider_type")
	place := []string{"spec", "providers", draft.APIField(api), index}
	p := providerWriter{candidate: c, path: path + ".config", at: place}
	p.kind, _ = c.Distribution.Release.Provider(api, full)
	p.config, _ = clone(objectAt(entry, "config")).(object)
	p.out = object{"id": id, "provider": c.shortType(api, full, p.kind)}
	values, _ := entry.(object)
	for _, key := range sortedKeys(values) {
		if !slices.Contains([]string{"provider_id", "provider_type", "config"}, key) {
			c.stay(path+"."+key, "the spec has no field for this key")
		}
	}
	p.secrets()
	if c.short {
		p.endpoint()
	}
	p.settings()
	return p.out
}

// shortType removes the prefix of a type if the release resolves the short form to the same type.
func (c *candidate) shortType(api, full string, kind *provider.Type) string {
	if kind == nil {
		return full
	}
	if found, ok := c.Distribution.Release.ResolveType(api, kind.Short()); ok && found.Type == full {
		return kind.Short()
	}
	return full
}

func (c *candidate) stay(path, why string) { c.stays = append(c.stays, Reason{path, why}) }

// providerWriter divides a provider's config into fields of the spec.
type providerWriter struct {
	*candidate
	kind   *provider.Type
	config object
	out    object
	// path is the path of the config. at is the path of the provider in the spec.
	path string
	at   []string
}

// secrets replaces each value that consists of a variable from a Secret. The replacement is a reference to the Secret.
func (p *providerWriter) secrets() {
	refs := object{}
	for _, key := range sortedKeys(p.config) {
		variable, secret, ok := p.fromSecret(p.config[key])
		if !ok {
			continue
		}
		delete(p.config, key)
		place := append(slices.Clone(p.at), "secretRefs", key)
		if p.kind != nil && key == p.kind.CredentialKey {
			p.out["apiKey"], place = secret.reference(), append(slices.Clone(p.at), "apiKey")
		} else {
			refs[key] = secret.reference()
		}
		p.commentSecret(variable, place...)
	}
	if len(refs) > 0 {
		p.out["secretRefs"] = refs
	}
}

// endpoint moves the address from the config to the `endpoint` field if the operator generates the same config from
// this field.
func (p *providerWriter) endpoint() {
	if p.kind == nil || p.kind.EndpointKey == "" || p.kind.PortKey != "" || p.kind.EndpointIgnored {
		return
	}
	text := textAt(p.config, p.kind.EndpointKey)
	if text == "" || hasPassword(text) {
		return
	}
	if without := strings.TrimSuffix(text, p.kind.EndpointPath); p.kind.Endpoint(without) == text {
		p.out["endpoint"] = without
	} else if p.kind.Endpoint(text) == text {
		p.out["endpoint"] = text
	} else {
		return
	}
	delete(p.config, p.kind.EndpointKey)
}

// settings adds the remaining keys.
func (p *providerWriter) settings() {
	for _, key := range sortedKeys(p.config) {
		isSecret := false
		if p.kind != nil && p.kind.Config != nil {
			known, ok := p.kind.Config.Key(key)
			isSecret = ok && known.Secret
		}
		p.stays = append(p.stays, p.clearText(p.path+"."+key, key, p.config[key], isSecret)...)
	}
	if len(p.config) > 0 {
		p.out["settings"] = asJSON(p.config)
	}
}
