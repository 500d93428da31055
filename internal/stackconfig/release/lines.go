package release

import "slices"

// LinesWith returns the lines that have a provider type (ResolveType takes it), ascending. It reads the data of every line,
// which takes a few milliseconds each, once; it is for errors and reports.
func LinesWith(api, providerType string) []string {
	return slices.DeleteFunc(Lines(), func(line string) bool {
		_, ok := mustLoad(line).ResolveType(api, providerType)
		return !ok
	})
}

// LinesWithKey returns the lines whose configs have a key, given by its dotted path (`server.tenancy`), ascending. Like
// LinesWith it is for errors and reports.
func LinesWithKey(path string) []string {
	return slices.DeleteFunc(Lines(), func(line string) bool { return !mustLoad(line).TopLevel.HasPath(path) })
}

// Spellings are the keys that a provider type reads in one line or another.
type Spellings struct {
	// Endpoints and Credentials are the keys that take the endpoint and the credential, the newest line's first.
	Endpoints, Credentials []string
	// Strict says that a key which is not known is refused or handed on in some line, so that only one spelling may be
	// written (milvus, the safety provider passthrough).
	Strict bool
}

// SpellingsOf returns every spelling that any line knows for a provider type: for a server whose release is not known they
// may all be written, unless Strict, because a class ignores what it does not know. It reads the data of every line.
func SpellingsOf(api, providerType string) Spellings {
	var s Spellings
	for _, line := range slices.Backward(Lines()) {
		p, ok := mustLoad(line).ResolveType(api, providerType)
		if !ok {
			continue
		}
		s.Endpoints = appendNew(s.Endpoints, p.EndpointKey)
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
