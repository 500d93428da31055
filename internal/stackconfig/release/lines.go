package release

import (
	"slices"
	"strings"
	"sync"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
)

// LinesWith returns the lines that have a provider type (ResolveType takes it), ascending. It reads the data of every line,
// which takes a few milliseconds each, once; it is for errors and reports.
func LinesWith(api, providerType string) []string {
	return slices.DeleteFunc(Lines(), func(line string) bool {
		_, ok := mustLoad(line).ResolveType(api, providerType)
		return !ok
	})
}

// FirstLineThatLists returns the first line whose server looks up the resources of an API in a store at each request.
// Empty: none does.
func FirstLineThatLists(api string) string {
	for _, line := range Lines() {
		if _, ok := mustLoad(line).Storage.Lists(api); ok {
			return line
		}
	}
	return ""
}

// FirstLineWithOpenHealthCheck returns the first line whose health check asks for no token, with authentication either.
func FirstLineWithOpenHealthCheck() string {
	lines := Lines()
	return lines[slices.IndexFunc(lines, func(line string) bool { return !mustLoad(line).Runtime.HealthNeedsToken })]
}

// LinesWithCredential returns the lines in which a provider type takes a credential, ascending.
func LinesWithCredential(api, providerType string) []string {
	return slices.DeleteFunc(Lines(), func(line string) bool {
		kind, ok := mustLoad(line).ResolveType(api, providerType)
		return !ok || kind.CredentialKey == ""
	})
}

// NearestTypeOfAny returns the type of an API in any line that a mistyped one most likely means, as NearestType does for one
// line; an empty string without one.
func NearestTypeOfAny(api, name string) string {
	var types []string
	for _, line := range Lines() {
		for _, kind := range mustLoad(line).ProviderTypes(api) {
			types = appendNew(types, kind)
		}
	}
	return nearestType(types, name)
}

// LineWithAPI returns the line next to the given one in which an API can have providers: the first one after it, else the
// last one before it; false when no line has such an API.
func LineWithAPI(line, api string) (string, bool) {
	last := ""
	for _, other := range Lines() {
		if known, ok := mustLoad(other).API(api); !ok || !known.Providable || other == line {
			continue
		}
		last = other
		if compareLines(other, line) > 0 {
			break
		}
	}
	return last, last != ""
}

// LinesWithKey returns the lines whose configs have a key, given by its dotted path (`server.tenancy`), ascending. Like
// LinesWith it is for errors and reports.
func LinesWithKey(path string) []string {
	if section, _, _ := strings.Cut(path, "."); !sections()[section] {
		return nil
	}
	return slices.DeleteFunc(Lines(), func(line string) bool { return !mustLoad(line).TopLevel.HasPath(path) })
}

// sections are the top-level keys of all lines.
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

// Aliases are the keys that a provider type reads in one line or another.
type Aliases struct {
	// Endpoints are the keys that take the endpoint, Credentials those that take the credential, the newest line's first.
	Endpoints   []EndpointAlias
	Credentials []string
	// Strict says that a key which is not known is refused or handed on in some line, so that only one alias may be
	// written (milvus, the safety provider passthrough).
	Strict bool
}

// EndpointAlias is a key for an endpoint, and the type in the newest line that reads it: what a path-less endpoint means
// may differ, too.
type EndpointAlias struct {
	Key  string
	Type *provider.Type
}

// AliasesOf returns every alias that any line knows for a provider type: for a server whose release is not known they
// may all be written, unless Strict, because a class ignores what it does not know. It reads the data of every line.
func AliasesOf(api, providerType string) Aliases {
	var s Aliases
	for _, line := range slices.Backward(Lines()) {
		p, ok := mustLoad(line).ResolveType(api, providerType)
		if !ok {
			continue
		}
		if p.EndpointKey != "" && !slices.ContainsFunc(s.Endpoints, func(e EndpointAlias) bool { return e.Key == p.EndpointKey }) {
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

// DistributionKeys returns the names that the top-level key for the distribution's name has had, the newest line's first.
func DistributionKeys() []string {
	var keys []string
	for _, line := range slices.Backward(Lines()) {
		keys = appendNew(keys, mustLoad(line).Runtime.DistributionKey)
	}
	return keys
}
