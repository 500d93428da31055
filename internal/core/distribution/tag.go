package distribution

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// publishedPrefix is the prefix of the distribution's name in the repositories in which the server's project publishes
// its distributions, and in the mirrors of these repositories.
const publishedPrefix = "distribution-"

var fullVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+$`)

// TagAlone reports whether only the tag specifies the release in the image. The tag of a user's own image may be the
// version of other software. Therefore, a release that only the tag specifies determines the configuration and its
// checks, but does not change the container. A label or the server's response can correct the release later.
//
// TagAlone returns false for the tag of a published distribution if the tag is a complete version. The repository name
// or the name in the spec identifies such a distribution.
func (r *Resolved) TagAlone() bool {
	if r.DetectedBy != ByTag {
		return false
	}
	_, published := r.Release.Distribution(r.Published())
	return !published || !fullVersion.MatchString(imagename.Tag(r.Image))
}

// Published returns the distribution in the spec or, for a bare image, the distribution in the repository name of the
// image. It returns an empty string if there is none.
func (r *Resolved) Published() string { return cmp.Or(r.Name, publishedAs(r.Image)) }

// FromCatalog reports whether the image is a published one: the catalog's image for a name, or an image with a
// published name and the tag of a release.
func (r *Resolved) FromCatalog() bool {
	if r.Name == "" {
		return r.DetectedBy == ByTag && !r.TagAlone()
	}
	entry, version, err := find(r.Name, r.Version, nil)
	return err == nil && entry.image(version) == r.Image
}

// Shipped returns Base or, for a bare image of a published distribution, the config that the release ships for this
// distribution. It returns nil if the config is unknown. Callers must not change the result.
func (r *Resolved) Shipped() []byte {
	known, ok := r.Release.Distribution(publishedAs(r.Image))
	if r.Base != nil || !ok || r.DetectedBy == Unknown || r.TagAlone() {
		return r.Base
	}
	return []byte(known.YAML)
}

// publishedAs returns the distribution in the repository name of an image, or an empty string if there is none.
func publishedAs(image string) string {
	image, _, _ = strings.Cut(image, "@")
	repository, _, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	name, found := strings.CutPrefix(repository, publishedPrefix)
	if !found {
		return ""
	}
	return name
}
