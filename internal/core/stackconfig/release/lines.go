package release

import (
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
)

// LinesWith returns the lines in which ResolveType finds a provider type, ascending. It loads the data of every line,
// which takes a few milliseconds for each line the first time. Use it only for errors and reports.
func LinesWith(api, providerType string) []string {
	return slices.DeleteFunc(Lines(), func(line string) bool {
		_, ok := mustLoad(line).ResolveType(api, providerType)
		return !ok
	})
}

// FirstLineThatLists returns the first line whose server looks up the resources of an API in a store on each request.
// It returns an empty string when no line does.
func FirstLineThatLists(api string) string {
	for _, line := range Lines() {
		if _, ok := mustLoad(line).Storage.Lists(api); ok {
			return line
		}
	}
	return ""
}

// FirstLineWithOpenHealthCheck returns the first line whose health check requires no token even with authentication.
func FirstLineWithOpenHealthCheck() string {
	lines := Lines()
	return lines[slices.IndexFunc(lines, func(line string) bool { return !mustLoad(line).Runtime.HealthNeedsToken })]
}

// LineWithBackendKey returns the first line after another in which a type of backend has a key. It returns an empty
// string when no later line does.
func LineWithBackendKey(after, backend, key string) string {
	for _, line := range Lines() {
		if Compare(line, after) <= 0 {
			continue
		}
		if kind, known := mustLoad(line).Storage.Backend(backend); known {
			if _, has := kind.Class.Key(key); has {
				return line
			}
		}
	}
	return ""
}

// LinesWithCredential returns the lines in which a provider type accepts a credential, ascending.
func LinesWithCredential(api, providerType string) []string {
	return slices.DeleteFunc(Lines(), func(line string) bool {
		kind, ok := mustLoad(line).ResolveType(api, providerType)
		return !ok || kind.CredentialKey == ""
	})
}

// NearestTypeOfAny searches an API's types in all lines for the name that is most similar to a misspelled name, and
// returns that type. It returns an empty string when no name is similar. NearestType does the same for one line.
func NearestTypeOfAny(api, name string) string {
	var types []string
	for _, line := range Lines() {
		for _, kind := range mustLoad(line).ProviderTypes(api) {
			types = appendNew(types, kind)
		}
	}
	return nearestType(types, name)
}

// LineWithAPI returns the nearest line in which an API can have providers: the first such line after the given line or,
// if there is none, the last one before it. It returns false when no line has such an API.
func LineWithAPI(line, api string) (string, bool) {
	last := ""
	for _, other := range Lines() {
		if known, ok := mustLoad(other).API(api); !ok || !known.Providable || other == line {
			continue
		}
		last = other
		if Compare(other, line) > 0 {
			break
		}
	}
	return last, last != ""
}

// LinesWithKey returns the lines whose configs have a key, given by its dotted path (`server.tenancy`), ascending. If
// the config is not nil, its values select the members of unions. Use it only for errors and reports, like LinesWith.
func LinesWithKey(path string, config *yaml.Node) []string {
	keys := strings.Split(path, ".")
	if !sections()[keys[0]] {
		return nil
	}
	return slices.DeleteFunc(Lines(), func(line string) bool {
		top := mustLoad(line).TopLevel
		return !top.HasPath(path) || config != nil && !top.HasKey(config, keys...)
	})
}

// sections is the set of the top-level keys of all lines.
var sections = sync.OnceValue(func() map[string]bool {
	all := make(map[string]bool)
	for _, line := range Lines() {
		for i := range mustLoad(line).TopLevel.Keys {
			all[mustLoad(line).TopLevel.Keys[i].Name] = true
			for _, alias := range mustLoad(line).TopLevel.Keys[i].Aliases {
				all[alias] = true
			}
		}
	}
	return all
})

// Aliases are the keys for the endpoint and the credential that a provider type reads in any line.
type Aliases struct {
	// Endpoints and Credentials are the keys for the endpoint and the credential. The keys of the newest line come first.
	Endpoints   []EndpointAlias
	Credentials []string
	// Strict reports whether any line rejects an unknown key or passes it on to a library, so that the operator can write
	// only one alias (milvus, the safety provider passthrough).
	Strict bool
}

// EndpointAlias is a key for an endpoint. Type is the provider type in the newest line that reads the key. Type is
// needed because the lines can also differ in the path that they append to an endpoint.
type EndpointAlias struct {
	Key  string
	Type *provider.Type
}

// AliasesOf returns the aliases of all lines for a provider type. In a configuration for an unknown release, the
// operator can write all aliases unless Strict is true, because classes normally ignore unknown keys. AliasesOf reads
// the data of every line.
func AliasesOf(api, providerType string) Aliases {
	var s Aliases
	for _, line := range slices.Backward(Lines()) {
		p, ok := mustLoad(line).ResolveType(api, providerType)
		if !ok {
			continue
		}
		if p.EndpointKey != "" && !slices.ContainsFunc(s.Endpoints,
			func(e EndpointAlias) bool { return e.Key == p.EndpointKey }) {
			s.Endpoints = append(s.Endpoints, EndpointAlias{Key: p.EndpointKey, Type: p})
		}
		s.Credentials = appendNew(s.Credentials, p.CredentialKey)
		s.Strict = s.Strict || p.Config.Extra != "ignore"
	}
	return s
}

func appendNew(keys []string, key string) []string {
	if key == "" || slices.Contains(keys, key) {
		return keys
	}
	return append(keys, key)
}

// DistributionKeys returns all names of the top-level key for the distribution's name. The name in the newest line
// comes first.
func DistributionKeys() []string {
	var keys []string
	for _, line := range slices.Backward(Lines()) {
		keys = appendNew(keys, mustLoad(line).Runtime.DistributionKey)
	}
	return keys
}
