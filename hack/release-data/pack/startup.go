package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// facts are the facts about a release line that the programs of internal/core/startup need.
type facts struct {
	// Package is the Python package whose version is the release. Module is the server's module.
	Package string `json:"package"`
	Module  string `json:"module"`
	// KeyPrefix is the prefix of the registry's keys. In a key, the type, a colon and the ID follow the prefix.
	KeyPrefix string `json:"key_prefix"`
	// NamespaceInFile reports whether kv_sqlite writes the namespace before each key, as the other key-value backends do.
	NamespaceInFile bool `json:"namespace_in_file"`
	// ExpirationType is the type of the expiration column of a new table in PostgreSQL.
	ExpirationType string `json:"expiration_type"`
	// Metadata is the default reference to the registry's store, for a configuration without such a reference.
	Metadata map[string]string `json:"metadata"`
	// Backends contains the defaults of the backend keys that the programs need, keyed by the backend's type. Only
	// kv_postgres has such keys.
	Backends map[string]map[string]string `json:"backends"`
	// Kinds are the lists in registered_resources whose entries have a type in the registry.
	Kinds map[string]kind `json:"kinds"`
	// Published are the entries that the server registers without a declaration.
	Published []published `json:"published"`
	// Carried contains the prefixes of keys that an earlier server wrote without a namespace, keyed by API.
	Carried map[string][]string `json:"carried"`
	// Moved describes how the server moves its data directory. Nil means that it does not.
	Moved *moved `json:"moved"`
}

// moved describes how the server moves its data directory if a variable is not set (server fact 77).
type moved struct {
	// Variable is the variable with the path of the data directory.
	Variable string `json:"variable"`
	// From and To are the names of the directory before and after the move. The parent directory is the same.
	From string `json:"from"`
	To   string `json:"to"`
}

// kind is a list in registered_resources.
type kind struct {
	// Type is the type of the entries in the registry.
	Type string `json:"type"`
	// ID is the key that holds an entry's ID. Own is the key that holds the provider's own name for the entry, if Form
	// contains that name.
	ID  string `json:"id"`
	Own string `json:"own,omitempty"`
	// Form is the form of the ID in the registry. Empty means the ID itself.
	Form string `json:"form,omitempty"`
	// Any is the provider_id for which the ID is unchanged.
	Any string `json:"any,omitempty"`
	// PrefixOnce reports whether an ID that starts with the provider's ID and a slash is unchanged.
	PrefixOnce bool `json:"prefix_once,omitempty"`
	// Providerless reports whether the entries of the list have no provider_id. In other lists, the server skips an entry
	// without a provider_id.
	Providerless bool `json:"providerless,omitempty"`
	// Dropped reports whether the server registers none of the entries.
	Dropped bool `json:"dropped,omitempty"`
}

// published is release.Published in JSON.
type published struct {
	Type   string   `json:"type"`
	API    string   `json:"api,omitempty"`
	Source string   `json:"source,omitempty"`
	IDs    []string `json:"ids,omitempty"`
}

// startupFacts returns the facts as JSON, with one line of text for each release line that has a registry. A line of
// text contains only the differences from the previous release line. A release line without differences has no line of
// text. The programs merge the lines up to the server's release line.
func startupFacts(releases []*release.Release) ([]byte, error) {
	var out bytes.Buffer
	before := map[string]json.RawMessage{}
	separator := "{\n"
	for _, r := range releases {
		if r.Registry.KeyPrefix == "" {
			continue
		}
		now, err := fields(factsOf(r))
		if err != nil {
			return nil, err
		}
		changed := maps.Clone(now)
		maps.DeleteFunc(changed, func(key string, value json.RawMessage) bool { return bytes.Equal(value, before[key]) })
		if len(changed) > 0 {
			text, err := json.Marshal(changed)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "%s%q: %s", separator, r.Line, text)
			separator = ",\n"
		}
		before = now
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

// fields returns the top-level fields of facts, encoded.
func fields(f facts) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	err = json.Unmarshal(text, &out)
	return out, err
}

func factsOf(r *release.Release) facts {
	f := facts{
		Package: r.Package, Module: r.Module, KeyPrefix: r.Registry.KeyPrefix, ExpirationType: r.Registry.ExpirationType,
		NamespaceInFile: r.Runtime.RegistryKeepsNamespace, Metadata: map[string]string{},
		Backends: map[string]map[string]string{}, Kinds: map[string]kind{}, Carried: r.Registry.Carried,
	}
	for _, p := range r.Registry.Published {
		f.Published = append(f.Published, published(p))
	}
	for _, res := range r.Resources() {
		if res.RegistryType != "" {
			f.Kinds[res.Kind] = kindOf(&res)
		}
	}
	if postgres, ok := r.Storage.Backend("kv_postgres"); ok {
		f.Backends[postgres.Type] = map[string]string{
			"table_name": postgres.Default("table_name"),
			"db":         postgres.Default("db"),
		}
	}
	if metadata, ok := r.Storage.Store("metadata"); ok {
		for _, field := range metadata.Default {
			f.Metadata[field.Key] = fmt.Sprint(field.Value)
		}
	}
	if runtime := &r.Runtime; runtime.MovedDir != "" {
		f.Moved = &moved{runtime.DataDirVariable, path.Base(runtime.MovedDir), path.Base(runtime.DataDir)}
	}
	return f
}

func kindOf(res *release.Resource) kind {
	k := kind{
		Type: res.RegistryType, ID: res.IDKey, Any: res.AnyProvider, PrefixOnce: res.PrefixOnce,
		Providerless: !res.NeedsProvider, Dropped: res.Dropped,
	}
	if res.PublicID != "{"+res.IDKey+"}" {
		k.Form = res.PublicID
	}
	if res.ProviderIDKey != "" && strings.Contains(k.Form, "{"+res.ProviderIDKey+"}") {
		k.Own = res.ProviderIDKey
	}
	return k
}
