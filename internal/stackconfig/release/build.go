package release

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// build returns the Release for a corrected document.
func build(doc *document) (*Release, error) {
	classes, err := buildClasses(doc.Classes)
	if err != nil {
		return nil, err
	}
	b := &builder{doc: doc, classes: classes}
	r := &Release{
		Line: doc.Line, Version: doc.Version, Covers: doc.Covers, Package: doc.Package, Module: doc.Module,
		Runtime:  doc.Runtime,
		Registry: doc.Registry,
		Offline:  doc.Offline.build(),
		TopLevel: b.class(doc.TopLevel, "top_level"),
		Server:   b.class(doc.Server, "server"),
		Storage:  b.storage(),

		resources:     b.resources(),
		providers:     b.providers(),
		Tools:         b.tools(),
		distributions: b.distributions(),
	}
	if len(r.Covers) == 0 {
		r.Covers = []string{doc.Version}
	}
	r.References = b.references(r.TopLevel)
	r.setAPIs(doc.APIs)
	return r, b.err
}

func (r *Release) setAPIs(apis []API) {
	r.apis = make(map[string]API, len(apis))
	for _, api := range apis {
		r.apis[api.Name] = api
		r.apiNames = append(r.apiNames, api.Name)
	}
}

// builder keeps the first error, so that the code for the parts needs no error checks.
type builder struct {
	doc     *document
	classes map[string]*schema.Class
	err     error
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// class returns the class with the given name. If the data has no such class, the builder fails with an error that
// names `user`, the part of the data that refers to the class.
func (b *builder) class(name, user string) *schema.Class {
	c, ok := b.classes[name]
	if !ok {
		b.fail(fmt.Errorf("%s refers to the class %q, which has no description", user, name))
	}
	return c
}

func (b *builder) value(data json.RawMessage, user string) any {
	value, err := provider.DecodeOrdered(data)
	if err != nil {
		b.fail(fmt.Errorf("%s: %w", user, err))
	}
	return value
}

func (b *builder) storage() Storage {
	s := Storage{Inline: b.doc.Storage.Inline, Required: b.doc.Storage.Required}
	for _, name := range sortedKeys(b.doc.Storage.Backends) {
		row := b.doc.Storage.Backends[name]
		s.Backends = append(s.Backends, Backend{
			Type: name, TypeValue: cmp.Or(row.Type, name), Family: row.Family,
			Class: b.class(row.Class, "backend "+name), NeedsDirectory: row.NeedsDirectory,
			CredentialKey: row.CredentialKey, CredentialInHost: row.CredentialInHost,
			ConnectionStringKey: row.ConnectionStringKey, EncodePassword: row.EncodePassword,
		})
	}
	for i := range b.doc.Storage.Stores {
		row := &b.doc.Storage.Stores[i]
		store := Store{
			Name: row.Name, Path: cmp.Or(row.Key, "storage.stores."+row.Name), Family: row.Family, Required: row.Required,
			RequiredWith: row.RequiredWith, RequiredBy: row.RequiredBy, ListOf: row.ListOf,
		}
		if !s.Inline {
			store.Class = b.class(row.Class, "store "+row.Name)
		}
		if row.Default != nil {
			store.Default, _ = b.value(row.Default, "store "+row.Name).(provider.Fields)
		}
		s.Stores = append(s.Stores, store)
	}
	return s
}

func (b *builder) resources() []Resource {
	out := make([]Resource, 0, len(b.doc.Resources))
	for i := range b.doc.Resources {
		row := &b.doc.Resources[i]
		out = append(out, Resource{
			Kind: row.Kind, Section: row.Section, IDKey: row.IDKey, ProviderIDKey: row.ProviderIDKey,
			NeedsProvider: row.NeedsProvider, Class: b.class(row.Class, "resource "+row.Kind), API: row.API,
			PublicID: row.PublicID, PublicAlias: cmp.Or(row.PublicAlias, row.PublicID), AnyProvider: row.AnyProvider,
			PrefixOnce: row.PrefixOnce, RegistryType: row.RegistryType, ListedAgain: row.ListedAgain,
			Dropped: row.Dropped, Instead: row.Instead,
		})
	}
	return out
}

func (b *builder) providers() map[string]map[string]*provider.Type {
	out := map[string]map[string]*provider.Type{}
	for name, row := range b.doc.Providers {
		api, kind, ok := strings.Cut(name, "/")
		if !ok {
			b.fail(fmt.Errorf("provider %q is not written as api/type", name))
			continue
		}
		if out[api] == nil {
			out[api] = map[string]*provider.Type{}
		}
		out[api][kind] = b.provider(api, kind, row)
	}
	return out
}

func (b *builder) provider(api, kind string, row *providerRow) *provider.Type {
	t := &provider.Type{
		API: api, Type: kind, Config: b.class(row.Config, "provider "+kind),
		Broken: row.Broken, KeptForm: row.KeptForm,
		EndpointKey: row.EndpointKey, EndpointPath: row.EndpointPath, EndpointIgnored: row.EndpointIgnored,
		EndpointNeeded: row.EndpointNeeded,
		EndpointParts:  provider.EndpointParts{Port: row.PortKey},
		CredentialKey:  row.CredentialKey, CredentialOptional: row.CredentialOptional, InMemory: row.InMemory,
		RegionKey:   row.RegionKey,
		ResourceIDs: row.ResourceIDs, RegistersNothing: row.RegistersNothing, ResourceNeeds: row.ResourceNeeds,
		Serves: row.Serves, Lists: row.Lists,
		Requires: row.Requires, Optional: row.Optional, Packages: row.Packages,
		ToolGroup: row.ToolGroup, Deprecated: row.Deprecated,
	}
	for _, d := range row.RequiredDefaults {
		t.RequiredDefaults = append(t.RequiredDefaults, provider.Default{
			Key: d.Key, Value: b.value(d.Value, "provider "+kind+", default of "+d.Key),
		})
	}
	b.doc.Offline.mark(t)
	return t
}

func (b *builder) tools() Tools {
	row := b.doc.Tools
	tools := Tools{MCP: row.MCP, MCPURLKey: row.MCPURLKey, MCPProvider: row.MCPProvider}
	groups := maps.Clone(row.Providers)
	if groups == nil {
		groups = map[string][]string{}
	}
	for name, p := range b.doc.Providers {
		if p.ToolGroup != "" {
			_, kind, _ := strings.Cut(name, "/")
			groups[p.ToolGroup] = append(groups[p.ToolGroup], kind)
		}
	}
	for _, name := range sortedKeys(row.Names) {
		group := row.Names[name]
		providers, ok := groups[group]
		if !ok {
			b.fail(fmt.Errorf("tool %q refers to the group %q, which no provider has", name, group))
		}
		tools.BuiltIn = append(tools.BuiltIn, BuiltInTool{
			Name: name, Group: group, Automatic: row.Automatic, Providers: slices.Sorted(slices.Values(providers)),
		})
	}
	return tools
}

func (b *builder) distributions() map[string]*Distribution {
	out := make(map[string]*Distribution, len(b.doc.Distributions))
	for name, row := range b.doc.Distributions {
		out[name] = newDistribution(name, row.Variables, b.doc.Runtime.DataDir, row.Config)
	}
	return out
}

// references returns the references of the document, except those whose settings do not exist in the line's
// configuration.
func (b *builder) references(top *schema.Class) []Reference {
	refs := slices.DeleteFunc(slices.Clone(b.doc.References), func(ref Reference) bool {
		return top == nil || !top.HasPath(ref.Path)
	})
	for i := range refs {
		known := b.doc.ModelSettings[refs[i].Path]
		refs[i].ModelType, refs[i].CheckedAtStart = known.ModelType, known.CheckedAtStart
	}
	return refs
}
