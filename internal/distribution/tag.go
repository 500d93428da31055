package distribution

import (
	"regexp"
	"strings"
)

// publishedPrefix begins the names of the repositories in which the server's project publishes its distributions, wherever
// they are mirrored.
const publishedPrefix = "distribution-"

var fullVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+$`)

// TagAlone reports whether nothing but a tag says which release the image holds. A tag of somebody's own image may be a version
// of anything: the release is then good for a configuration and its checks, which a label or the server's answer corrects, and
// not for a change of the container.
//
// A tag is believed of a published distribution, by the name of its repository or because an administrator says so, when it is
// a whole version.
func (r *Resolved) TagAlone() bool {
	if r.DetectedBy != ByTag {
		return false
	}
	name := r.Name
	if name == "" {
		name = publishedAs(r.Image)
	}
	_, published := r.Release.Distribution(name)
	return !published || !fullVersion.MatchString(tag(r.Image))
}

// publishedAs is the distribution whose name the repository of an image has; empty when it has none.
func publishedAs(image string) string {
	image, _, _ = strings.Cut(image, "@")
	repository, _, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	name, found := strings.CutPrefix(repository, publishedPrefix)
	if !found {
		return ""
	}
	return name
}
