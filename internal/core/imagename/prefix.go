package imagename

import (
	"maps"
	"slices"
	"strings"
)

// Prefix returns the normal form of a registry, or of a prefix of repository names. A prefix without a host refers to
// Docker Hub, as in the name of an image.
func Prefix(text string) string {
	text = strings.TrimSuffix(text, "/")
	host, path, below := strings.Cut(text, "/")
	if lower := strings.ToLower(host); lower != "localhost" && !strings.ContainsAny(lower, ".:") {
		return hubAsAsked + "/" + text
	}
	if !below {
		return Registry(host)
	}
	return Registry(host) + "/" + path
}

// Prefixes returns the normal forms of all prefixes that the strings refer to. For example, docker.io/nginx also refers
// to docker.io/library/nginx.
func Prefixes(texts []string) []string {
	var result []string
	for _, text := range texts {
		prefix := Prefix(text)
		result = append(result, prefix)
		if also := inLibrary(prefix); also != "" {
			result = append(result, also)
		}
	}
	return result
}

// Rewrites returns a map from each prefix to its replacement, both in their normal form. If two strings refer to the
// same prefix, a string that contains "library/" takes precedence, and then the first string in alphabetical order.
func Rewrites(rewrite map[string]string) map[string]string {
	result := map[string]string{}
	for _, also := range []func(string) string{Prefix, func(text string) string { return inLibrary(Prefix(text)) }} {
		for _, text := range slices.Sorted(maps.Keys(rewrite)) {
			from := also(text)
			if _, taken := result[from]; from != "" && !taken {
				result[from] = Prefix(rewrite[text])
			}
		}
	}
	return result
}

// inLibrary returns the prefix docker.io/library/<name> for the prefix docker.io/<name>, both in their normal form. It
// returns "" for all other prefixes.
func inLibrary(prefix string) string {
	name, ok := strings.CutPrefix(prefix, hubAsAsked+"/")
	if !ok || strings.Contains(name, "/") {
		return ""
	}
	return hubLibrary + name
}

// HasPrefix reports whether a repository is the prefix or is below it. Both must be in their normal form.
func HasPrefix(repository, prefix string) bool {
	return repository == prefix || strings.HasPrefix(repository, prefix+"/")
}

// HasAnyPrefix reports whether a repository is one of the prefixes or is below one of them.
func HasAnyPrefix(repository string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return HasPrefix(repository, prefix) })
}
