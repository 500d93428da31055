package check

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Missing is an API that providers need and that the configuration does not have.
type Missing struct {
	API string
	// by lists the providers that need the API.
	by []*draft.Provider
}

// Names returns the providers that need the API, such as responses/builtin.
func (m *Missing) Names() string {
	names := make([]string, len(m.by))
	for i, e := range m.by {
		names[i] = draft.APIField(e.API) + "/" + e.ID
	}
	return intent.Listed(names)
}

// MissingAPIs returns the APIs that enabled providers require and that the configuration does not have, in the order of
// the first provider that requires each API.
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
			// A provider can require both an API and its routing table, which count as one dependency.
			if n := len(found[i].by); n == 0 || found[i].by[n-1] != e {
				found[i].by = append(found[i].by, e)
			}
		}
	}
	return found
}

// ProvidedBy returns the API whose providers provide the given API, for example inference for models. It returns an
// empty string when the server always has the API, or when the release does not have it.
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

// isConfigured reports whether the configuration has an API. An API with a routing table needs no providers, because
// the server creates its router whenever it serves the API (server fact 53, server fact 55).
func isConfigured(d *draft.Draft, api string) bool {
	if known, _ := d.Release.API(api); known.RoutingTable != "" {
		return d.ServesAPI(api)
	}
	return yamlnode.Len(yamlnode.At(d.Root, "providers", api)) > 0
}
