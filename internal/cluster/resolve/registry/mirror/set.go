package mirror

import (
	"slices"
	"strings"
)

// maxPlaces bounds the number of repositories that Places returns.
const maxPlaces = 8

// Set lists the mirrored sources in a cluster. The zero Set has no sources.
type Set []Source

// Source is a prefix of repositories, in the normal form of package imagename, with its mirrors.
type Source struct {
	// Prefix is host[:port][/path], or *.domain, which matches every host in the domain.
	Prefix string
	// Digest and Tag list mirrors in order: Digest for images that are referenced by digest, and Tag for images that are
	// referenced by tag.
	Digest, Tag []string
	// Never reports whether the source itself must not receive requests.
	Never bool
}

// Places returns the repositories that may contain the images of a repository, in the order in which a reader must try
// them. Only the source with the longest matching prefix applies. An empty result means that the repository must not
// receive requests and has no mirror.
func (s Set) Places(repository string, byDigest bool) []string {
	var best *Source
	length := 0
	for i := range s {
		if matched := match(repository, s[i].Prefix); matched > 0 && (best == nil || len(s[i].Prefix) > len(best.Prefix)) {
			best, length = &s[i], matched
		}
	}
	if best == nil {
		return []string{repository}
	}
	mirrors := best.Tag
	if byDigest {
		mirrors = best.Digest
	}
	var places []string
	for _, mirror := range mirrors[:min(len(mirrors), maxPlaces-1)] {
		if place := mirror + repository[length:]; strings.Contains(place, "/") { // a registry alone is not a repository
			places = append(places, place)
		}
	}
	if !best.Never && !slices.Contains(places, repository) {
		places = append(places, repository)
	}
	return places
}

// match returns the length of the part of a repository that a prefix matches, or 0 if it does not match.
func match(repository, prefix string) int {
	domain, wildcard := strings.CutPrefix(prefix, "*")
	if !wildcard {
		if repository == prefix || strings.HasPrefix(repository, prefix+"/") {
			return len(prefix)
		}
		return 0
	}
	host, _, _ := strings.Cut(repository, "/")
	if strings.HasSuffix(host, domain) && len(host) > len(domain) {
		return len(host)
	}
	return 0
}
