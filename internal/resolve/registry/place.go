package registry

import (
	"maps"
	"slices"
	"strings"
)

// Docker Hub is docker.io in images and index.docker.io to older programs. Images there
// that have no organization are below library.
const (
	hub        = "docker.io"
	hubAsAsked = "index.docker.io"
	hubLibrary = hubAsAsked + "/library/"
)

// place is one spelling of a registry, or of what begins a repository: the host in lower
// case, Docker Hub under the name that it is asked by. What begins without a host is on
// Docker Hub, as in the name of an image.
func place(text string) string {
	text = strings.TrimSuffix(text, "/")
	host, path, below := strings.Cut(text, "/")
	switch host = strings.ToLower(host); {
	case host == hub:
		host = hubAsAsked
	case host != "localhost" && !strings.ContainsAny(host, ".:"):
		return hubAsAsked + "/" + text
	}
	if !below {
		return host
	}
	return host + "/" + path
}

// shown is a place as people write it.
func shown(place string) string {
	if path, ok := strings.CutPrefix(place, hubAsAsked); ok && (path == "" || path[0] == '/') {
		return hub + path
	}
	return place
}

// inLibrary is the place of the image that docker.io/<name> is, besides all that is below
// it; empty where that is no name of an image.
func inLibrary(place string) string {
	name, ok := strings.CutPrefix(place, hubAsAsked+"/")
	if !ok || strings.Contains(name, "/") {
		return ""
	}
	return hubLibrary + name
}

// places are all the places that some texts stand for.
func places(texts []string) []string {
	var result []string
	for _, text := range texts {
		result = append(result, place(text))
		if also := inLibrary(place(text)); also != "" {
			result = append(result, also)
		}
	}
	return result
}

// placesRewritten are the replacements by place. Where two texts stand for one place, the
// one that writes it out counts, then the first by name.
func placesRewritten(rewrite map[string]string) map[string]string {
	result := map[string]string{}
	for _, also := range []func(string) string{place, func(text string) string { return inLibrary(place(text)) }} {
		for _, text := range slices.Sorted(maps.Keys(rewrite)) {
			from := also(text)
			if _, taken := result[from]; from != "" && !taken {
				result[from] = place(rewrite[text])
			}
		}
	}
	return result
}

// isBelow reports whether a repository is a place or below it.
func isBelow(repository, place string) bool {
	return repository == place || strings.HasPrefix(repository, place+"/")
}
