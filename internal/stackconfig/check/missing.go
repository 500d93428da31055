package check

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// Missing is an API that providers need and the configuration does not have.
type Missing struct {
	API string
	// by are the providers that need it.
	by []*draft.Provider
}

// Names of the providers that need it: responses/builtin.
func (m *Missing) Names() string {
	names := make([]string, len(m.by))
	for i, e := range m.by {
		names[i] = draft.APIField(e.API) + "/" + e.ID
	}
	return draft.Listed(names)
}

// MissingAPIs are the hard dependencies that are not met, in the
// order in which they are needed first.
func MissingAPIs(d *draft.Draft) []Missing {
	var found []Missing
	at := make(map[string]int)
	for _, e := range d.Index.Providers {
		if e.Kind == nil || !e.Enabled {
			continue
		}
		for _, api := range e.Kind.Requires {
			api = ProvidedBy(d, api)
			if api == "" || isConfigured(d, api) {
				continue
			}
			i, known := at[api]
			if !known {
				i = len(found)
				at[api] = i
				found = append(found, Missing{API: api})
			}
			// An API and its routing table are one need.
			if n := len(found[i].by); n == 0 || found[i].by[n-1] != e {
				found[i].by = append(found[i].by, e)
			}
		}
	}
	return found
}

// ProvidedBy is the API whose providers bring an API with them: inference for
// models. Empty when the server has it anyway.
func ProvidedBy(d *draft.Draft, api string) string {
	known, ok := d.Release.API(api)
	switch {
	case !ok || known.Internal:
		return ""
	case known.Router != "":
		return known.Router
	default:
		return api
	}
}

// isConfigured reports whether an API has an entry below providers. The server makes the
// router of one that routes by itself as soon as it serves the API, with or
// without providers (core/resolver.py, resolve_impls).
func isConfigured(d *draft.Draft, api string) bool {
	if known, _ := d.Release.API(api); known.RoutingTable != "" {
		return d.ServesAPI(api)
	}
	return yamlnode.Len(yamlnode.At(d.Root, "providers", api)) > 0
}
