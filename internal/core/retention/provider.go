package retention

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

const (
	vectorIO = "vector_io"
	// Files is the data of the files API.
	Files = "files"
)

// stateless lists the APIs whose providers store no client data, or only data that is also in the registry.
var stateless = map[string]bool{
	"inference": true, "safety": true, "tool_runtime": true, "scoring": true, "eval": true, "datasetio": true,
}

// fileKeys lists the keys in provider settings whose values contain file or directory paths.
var fileKeys = []string{"db_path", "storage_dir", "path"}

// addressKeys lists the keys in provider settings whose values contain a part of a server's address. urlKeys lists the
// keys whose values contain a whole address.
var (
	urlKeys = []string{
		"url", "uri", "location", "base_url", "weaviate_cluster_url", "elasticsearch_url",
		"endpoint_url",
	}
	addressKeys = []string{"host", "port", "db", "bucket_name"}
)

// maxDepth bounds the depth of the search for stores in a provider's settings.
const maxDepth = 6

// providers determines the places where the providers store their data. The ID identifies the data of a vector
// provider, because vector stores refer to the ID. The data of any other provider has no ID.
func (r *reader) providers() {
	all := yamlnode.Get(r.Config, "providers")
	for _, api := range yamlnode.Keys(all) {
		if stateless[api] || !r.serves(api) {
			continue
		}
		items := slices.DeleteFunc(slices.Clone(yamlnode.Items(yamlnode.Get(all, api))), func(item *yaml.Node) bool {
			id := r.Pod.resolve(text(item, "provider_id"))
			return id == "" || id == disabledID
		})
		if r.single(api) && len(items) > 1 {
			items = items[len(items)-1:]
		}
		for _, item := range items {
			r.provider(api, r.Pod.resolve(text(item, "provider_id")), item)
		}
	}
}

// single reports whether the server uses only the last provider of an API, because it does not route requests to
// several providers (server fact 79).
func (r *reader) single(api string) bool {
	found, known := r.Release.API(api)
	return known && found.RoutingTable == ""
}

// disabledID is the ID that makes the server skip a provider.
const disabledID = "__disabled__"

// serves reports whether the server serves an API to clients.
func (r *reader) serves(api string) bool {
	apis := yamlnode.Items(yamlnode.Get(r.Config, "apis"))
	return len(apis) == 0 || slices.ContainsFunc(apis, func(item *yaml.Node) bool { return item.Value == api })
}

func (r *reader) provider(api, id string, item *yaml.Node) {
	config := yamlnode.Get(item, "config")
	kept := Data{Type: text(item, "provider_type")}
	what := api
	if r.single(api) {
		kept.Provider = short(id)
	}
	if api == vectorIO {
		what += "/" + short(id)
		if kind, known := r.Release.Provider(api, kept.Type); known && !r.ReleaseUnknown {
			kept.Form = kind.KeptForm
		}
	}
	kept.In = append(r.own(config, strings.HasSuffix(kept.Type, milvus)), r.parts(config, what, 0)...)
	switch api {
	case "agents", "responses":
		r.responses(api, kept.In)
	default:
		if api == vectorIO || len(kept.In) > 0 {
			r.add(what, kept)
		}
	}
}

// add records data, and keeps the places that are already recorded for the same kind of data.
func (r *reader) add(what string, kept Data) {
	if before, there := r.places.Data[what]; there {
		kept.In = append(before.In, kept.In...)
	}
	r.places.Data[what] = kept
}

// responses distinguishes stored responses from agents. From release 0.7 on, the API that stores responses is called
// `responses`. Before that release, the `agents` API stored both responses and agents.
func (r *reader) responses(api string, in []Place) {
	for _, place := range in {
		family := r.places.Stores[place.Store].Type
		switch {
		case strings.HasPrefix(family, "sql"):
			r.add("responses", Data{In: []Place{place}})
		case api == "agents":
			r.add("agents", Data{In: []Place{place}})
		}
	}
}

// milvus is the end of the types of providers that expand a ~ in the path of their file (server fact 78).
const milvus = "::milvus"

// own returns the places that a provider's settings contain directly. The parameter expands reports whether the
// provider expands a ~ in the path of its file.
func (r *reader) own(config *yaml.Node, expands bool) []Place {
	var found []Place
	for _, key := range fileKeys {
		if file := text(config, key); file != "" {
			resolved := r.Pod.file(file, expands)
			found = append(found, Place{File: resolved, Text: written(file, resolved)})
		}
	}
	for _, key := range urlKeys {
		if url := text(config, key); url != "" {
			if address := r.Pod.address(url); address != "" {
				found = append(found, Place{At: address})
			}
		}
	}
	var parts []string
	for _, key := range addressKeys {
		if part := text(config, key); part != "" {
			parts = append(parts, r.Pod.host(part))
		}
	}
	if len(parts) > 0 {
		found = append(found, Place{At: strings.Join(parts, " ")})
	}
	return found
}

// parts returns the parts of backends that a provider's settings refer to, at any depth up to maxDepth.
func (r *reader) parts(node *yaml.Node, path string, depth int) []Place {
	if node == nil || depth > maxDepth {
		return nil
	}
	if place, ok := r.place(node, path); ok {
		return []Place{place}
	}
	var found []Place
	for _, key := range yamlnode.Keys(node) {
		if child := yamlnode.Get(node, key); child.Kind == yaml.MappingNode {
			found = append(found, r.parts(child, path+"."+key, depth+1)...)
		}
	}
	return found
}
