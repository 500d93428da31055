package imagename

import (
	"maps"
	"slices"
	"strings"
)

// Prefix returns the normal form of a registry, or of a prefix of repositories. A prefix without a host is on Docker
// Hub, as in the name of an image.
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

// Prefixes returns all prefixes that the texts mean: docker.io/nginx also means docker.io/library/nginx.
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

// Rewrites returns the replacements by the prefix that they replace. If two texts mean the same prefix, a text that
// contains "library/" takes precedence, then the first text in alphabetical order.
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

// inLibrary returns the prefix of docker.io/library/<name> for docker.io/<name>. It returns "" for all other prefixes.
func inLibrary(prefix string) string {
	name, ok := strings.CutPrefix(prefix, hubAsAsked+"/")
	if !ok || strings.Contains(name, "/") {
		return ""
	}
	return hubLibrary + name
}

// HasPrefix reports whether a repository is the prefix or is below it. Both are in their normal form.
func HasPrefix(repository, prefix string) bool {
	return repository == prefix || strings.HasPrefix(repository, prefix+"/")
}

// HasAnyPrefix reports whether a repository is one of the prefixes or is below one.
func HasAnyPrefix(repository string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return HasPrefix(repository, prefix) })
}
