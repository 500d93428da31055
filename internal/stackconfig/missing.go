package stackconfig

import "github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"

// missing is an API that providers need and the configuration does not have.
type missing struct {
	api string
	// by are the providers that need it.
	by []*entry
}

// names of the providers that need it: responses/builtin.
func (m *missing) names() string {
	names := make([]string, len(m.by))
	for i, e := range m.by {
		names[i] = apiField(e.api) + "/" + e.id
	}
	return listed(names)
}

// missingAPIs are the hard dependencies that are not met (SERVER.md 2), in the
// order in which they are needed first.
func (d *draft) missingAPIs() []missing {
	var found []missing
	at := make(map[string]int)
	for _, e := range d.index.entries {
		if e.kind == nil || !e.enabled {
			continue
		}
		for _, api := range e.kind.Requires {
			api = d.providedBy(api)
			if api == "" || d.isThere(api) {
				continue
			}
			i, known := at[api]
			if !known {
				i = len(found)
				at[api] = i
				found = append(found, missing{api: api})
			}
			// An API and its routing table are one need.
			if n := len(found[i].by); n == 0 || found[i].by[n-1] != e {
				found[i].by = append(found[i].by, e)
			}
		}
	}
	return found
}

// providedBy is the API whose providers bring an API with them: inference for
// models. Empty when the server has it anyway.
func (d *draft) providedBy(api string) string {
	known, ok := d.rel.API(api)
	switch {
	case !ok || known.Internal:
		return ""
	case known.Router != "":
		return known.Router
	default:
		return api
	}
}

// isThere says whether an API has an entry below providers. The server makes the
// router of one that routes by itself as soon as it serves the API, with or
// without providers (core/resolver.py, resolve_impls).
func (d *draft) isThere(api string) bool {
	if known, _ := d.rel.API(api); known.RoutingTable != "" {
		return d.serves(api)
	}
	return yamlnode.Len(yamlnode.At(d.root, "providers", api)) > 0
}
