package main

import (
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// ofRelease returns the v1alpha2 schema for a release line. It refers to the schema of the version, and adds the
// provider types of the release and their settings.
func ofRelease(rel *release.Release) object {
	s := &releaseSchema{rel: rel, classes: &classes{definitions: object{}}}
	providers := object{}
	for _, field := range intent.APIFields() {
		api := intent.API(field)
		if known, ok := rel.API(api); !ok || !known.Providable || len(s.types(api)) == 0 {
			providers[field] = false
			continue
		}
		s.classes.definitions[api] = s.api(api)
		providers[field] = object{"allOf": []any{ref(api)}, "items": ref(api)}
	}
	spec := object{
		"distribution": object{"properties": object{"name": object{
			"anyOf": []any{object{"enum": texts(rel.Distributions())}, object{"type": "string"}},
		}}},
		"providers": object{
			"properties":   providers,
			"errorMessage": "Release " + rel.Line + " has no providers of this API.",
		},
	}
	return object{
		"$schema":     draft,
		"title":       "LlamaStackDistribution " + v1alpha2.GroupVersion.Version + " for server release " + rel.Line,
		"allOf":       []any{object{"$ref": fileOf(v1alpha2.GroupVersion.Version)}},
		"properties":  object{"spec": object{"properties": spec}},
		"definitions": s.classes.definitions,
	}
}

type releaseSchema struct {
	rel     *release.Release
	classes *classes
}

// types returns the provider types of an API, except those that the server cannot start with.
func (s *releaseSchema) types(api string) []*provider.Type {
	var types []*provider.Type
	for _, name := range s.rel.ProviderTypes(api) {
		if kind, ok := s.rel.Provider(api, name); ok && kind.Broken == "" {
			types = append(types, kind)
		}
	}
	return types
}

// api returns the schema for a provider of an API. The schema applies only to objects.
func (s *releaseSchema) api(api string) object {
	var names, branches []any
	for _, kind := range s.types(api) {
		spellings := []any{kind.Type}
		if meant, ok := s.rel.ResolveType(api, kind.Short()); ok && meant == kind {
			spellings = []any{kind.Short(), kind.Type}
		}
		names = append(names, spellings...)
		branches = append(branches, object{
			"if":   object{"properties": object{"provider": object{"enum": spellings}}, "required": []any{"provider"}},
			"then": s.provider(kind),
		})
	}
	message := "This is not a type of " + intent.APIField(api) + " provider in release " + s.rel.Line + "."
	return object{
		"properties": object{"provider": object{"enum": names, "errorMessage": message}},
		"allOf":      branches,
	}
}

// provider returns the schema for a provider of the given type.
func (s *releaseSchema) provider(kind *provider.Type) object {
	settings := s.classes.name(kind.Config)
	properties := object{
		"id": true, "provider": true,
		"endpoint":   kind.EndpointKey != "",
		"apiKey":     kind.CredentialKey != "",
		"settings":   ref(settings),
		"secretRefs": ref(s.classes.secrets(kind.Config)),
	}
	then := object{
		"properties": properties, "description": describeType(kind),
		"errorMessage": kind.Type + " does not have this field in release " + s.rel.Line + ".",
	}
	if kind.Config.Extra != schema.ExtraAllow {
		for _, key := range keysOf(kind.Config) {
			setMissing(properties, key, true)
		}
		then["additionalProperties"] = false
	}
	return then
}

// describeType returns the description of a provider type.
func describeType(kind *provider.Type) string {
	parts := []string{"Provider type " + kind.Type + "."}
	if kind.EndpointKey != "" {
		parts = append(parts, "endpoint sets the key "+kind.EndpointKey+".")
	}
	if kind.CredentialKey != "" {
		parts = append(parts, "apiKey sets the key "+kind.CredentialKey+".")
	}
	if kind.Deprecated != "" {
		parts = append(parts, "This type is deprecated in this release of the server.")
	}
	return strings.Join(parts, " ")
}

// keysOf returns the names and aliases of a class's keys, sorted.
func keysOf(class *schema.Class) []string {
	var keys []string
	for i := range class.Keys {
		keys = append(append(keys, class.Keys[i].Name), class.Keys[i].Aliases...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// texts returns strings as JSON values.
func texts(values []string) []any {
	list := make([]any, len(values))
	for i, value := range values {
		list[i] = value
	}
	return list
}
