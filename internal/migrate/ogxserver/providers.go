package ogxserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// providers writes the providers of each API as a list, in the order of the OGXServer.
func (c *conversion) providers() {
	c.taken = make(map[string][]string)
	for _, api := range apis {
		if list := c.providersOf(api.field); len(list) > 0 {
			c.put(list, "spec", "providers", api.field)
			for _, one := range list {
				id, _ := one.(map[string]any)["id"].(string)
				c.taken[api.server] = append(c.taken[api.server], id)
			}
		}
	}
}

func (c *conversion) providersOf(api string) []any {
	var list []any
	for _, where := range []string{"remote", "inline"} {
		for _, place := range kinds[api] {
			if place.where == where {
				list = c.provider(list, place.kind, "spec", "providers", api, where, place.field)
			}
		}
		list = c.provider(list, kind{}, "spec", "providers", api, where, "custom")
	}
	return list
}

// provider appends the provider or the providers of one field to a list.
func (c *conversion) provider(list []any, of kind, from ...string) []any {
	switch value := at(c.from, from...).(type) {
	case map[string]any:
		return append(list, c.one(value, of, from, len(list)))
	case []any:
		c.went(from, []string{"spec", "providers", from[2]})
		for i, item := range value {
			if object, ok := item.(map[string]any); ok {
				list = append(list, c.one(object, of, append(slices.Clone(from), strconv.Itoa(i)), len(list)))
			}
		}
	}
	return list
}

// writer writes one provider.
type writer struct {
	*conversion
	of       kind
	out      map[string]any
	from, to []string
}

// one returns a provider of the stack. The parameter `number` is its index in the list of providers.
func (c *conversion) one(object map[string]any, of kind, from []string, number int) map[string]any {
	to := []string{"spec", "providers", from[2], strconv.Itoa(number)}
	w := writer{conversion: c, of: of, out: make(map[string]any), from: from, to: to}
	c.went(from, to)
	if of.Type == "" {
		w.custom(object)
		return w.out
	}
	w.out["provider"], w.out["id"] = of.Type, of.ID
	settings := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if object[name] != nil && name != "vectorIndex" {
			w.field(name, object[name], settings)
		}
	}
	if index, ok := object["vectorIndex"].(map[string]any); ok {
		w.index(index, settings)
	}
	if len(settings) > 0 {
		w.out["settings"] = settings
	}
	return w.out
}

// field writes one field of a provider.
func (w *writer) field(name string, value any, settings map[string]any) {
	switch {
	case name == "id":
		w.set("id", value, name)
	case name == w.of.Endpoint:
		w.set("endpoint", value, name)
	case name == w.of.Credential:
		w.out["apiKey"] = w.secret(value, []string{name}, "apiKey")
	case slices.Contains(w.of.Secrets, name):
		refs, ok := w.out["secretRefs"].(map[string]any)
		if !ok {
			refs = make(map[string]any)
			w.out["secretRefs"] = refs
		}
		refs[release.SnakeCase(name)] = w.secret(value, []string{name}, "secretRefs", release.SnakeCase(name))
	default:
		key, ok := w.of.Renamed[name]
		if !ok {
			key = release.SnakeCase(name)
		}
		settings[key] = w.setting(name, value, []string{name}, []string{"settings", key})
	}
}

func (w *writer) set(key string, value any, name string) {
	w.out[key] = value
	w.went(append(slices.Clone(w.from), name), slices.Concat(w.to, []string{key}))
}

// setting returns a value of the configuration with the names of its fields in snake case. It converts a string to a
// number if the OGXServer API uses a string only because the API has no type for fractions.
func (w *writer) setting(name string, value any, from, to []string) any {
	w.went(slices.Concat(w.from, from), slices.Concat(w.to, to))
	switch v := value.(type) {
	case map[string]any:
		if name == "headers" { // the names of headers are not names of fields
			return runtime.DeepCopyJSONValue(v)
		}
		out := make(map[string]any, len(v))
		for _, inner := range slices.Sorted(maps.Keys(v)) {
			if v[inner] != nil {
				out[release.SnakeCase(inner)] = w.setting(inner, v[inner], append(slices.Clone(from), inner),
					append(slices.Clone(to), release.SnakeCase(inner)))
			}
		}
		return out
	case string:
		if slices.Contains(fractions, name) && json.Valid([]byte(v)) {
			return json.Number(v)
		}
		return v
	default:
		return runtime.DeepCopyJSONValue(v)
	}
}

// fractions lists the fields that contain a number as a string.
var fractions = []string{"temperature", "rrfImpactFactor", "weightedSearchAlpha"}

// indexes lists the kinds of pgvector indexes, each with the server's name for it. If an OGXServer sets several, the
// conversion uses the first one in this list.
var indexes = []struct{ field, typ string }{{"hnsw", "HNSW"}, {"ivfFlat", "IVFFlat"}}

// index writes the pgvector index. The server expects the type and the keys at the same level. The ogx-k8s-operator
// nests the keys and does not write the type, and no release of the server starts with that configuration.
func (w *writer) index(given, settings map[string]any) {
	from, to := []string{"vectorIndex"}, []string{"settings", "vector_index"}
	for _, kind := range indexes {
		if given[kind.field] == nil {
			continue
		}
		if settings["vector_index"] != nil {
			w.leaveOut(fieldPath(slices.Concat(w.from, from, []string{kind.field})), "a provider can have only one vector index, but vectorIndex sets several; keep one of them")
			continue
		}
		index, _ := w.setting(kind.field, given[kind.field], append(from, kind.field), to).(map[string]any)
		index["type"] = kind.typ
		settings["vector_index"] = index
		w.note("The ogx-k8s-operator nests these keys and does not write the type. A server does not start with that configuration.", slices.Concat(w.to, to)...)
	}
}

// custom writes a provider of any type.
func (w *writer) custom(object map[string]any) {
	typ, _ := object["type"].(string)
	w.set("provider", typ, "type")
	w.out["id"] = strings.ReplaceAll(typ, "::", "-")
	if id := object["id"]; id != nil {
		w.set("id", id, "id")
	}
	if refs, ok := object["secretRefs"].(map[string]any); ok && len(refs) > 0 {
		written := make(map[string]any, len(refs))
		for key, ref := range refs {
			written[key] = w.secret(ref, []string{"secretRefs", key}, "secretRefs", key)
		}
		w.set("secretRefs", written, "secretRefs")
	}
	if settings := object["settings"]; settings != nil {
		w.set("settings", runtime.DeepCopyJSONValue(settings), "settings")
	}
}

// secret returns a provider's reference to a key of a Secret.
func (w *writer) secret(value any, from []string, to ...string) any {
	return w.conversion.secret(value, slices.Concat(w.from, from), slices.Concat(w.to, to))
}

// secret returns a reference to a key of a Secret, and records the new path of the reference.
func (c *conversion) secret(value any, from, to []string) any {
	c.went(from, to)
	for _, field := range []string{"name", "key"} {
		c.went(append(slices.Clone(from), field), append(slices.Clone(to), "secretKeyRef", field))
	}
	return map[string]any{"secretKeyRef": runtime.DeepCopyJSONValue(value)}
}
