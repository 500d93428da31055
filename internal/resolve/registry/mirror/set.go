package mirror

import (
	"slices"
	"strings"
)

// maxPlaces bounds the places that one image is looked for in.
const maxPlaces = 8

// Set are the mirrors of a cluster. The zero Set has none.
type Set []Source

// Source is what begins repositories, in the normal form of package imagename, and what takes their place.
type Source struct {
	// Prefix is host[:port][/path], or *.domain for every host in it.
	Prefix string
	// Digest and Tag are the mirrors of images that are named by a digest, and by a tag, in their order.
	Digest, Tag []string
	// Never keeps the source itself from being asked.
	Never bool
}

// Places are where the images of a repository may be, in the order in which they are asked for. The source with the longest
// prefix counts, and no other. None: the repository may not be asked, and has no mirror.
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
		if place := mirror + repository[length:]; strings.Contains(place, "/") { // a registry alone is no place of an image
			places = append(places, place)
		}
	}
	if !best.Never && !slices.Contains(places, repository) {
		places = append(places, repository)
	}
	return places
}

// match is how much of a repository a prefix stands for; 0 when it does not begin with it.
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
