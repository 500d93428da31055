package distribution

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// WithLabel is the distribution with the release that a label of its image names; own says that the label is one of the
// server's release and nothing else. What the spec asks for goes first, then an own label, then the tag. Any other label
// (org.opencontainers.image.version) goes last, and only when it names an offered release: images inherit it from the image
// that they were built on, whose version it then is. A text that is no version changes nothing; an own label with a release
// that is not offered makes it Unknown.
func (r Resolved) WithLabel(version string, own bool) (Resolved, error) {
	if r.DetectedBy == ByVersion || r.DetectedBy == ByTag && !own || !release.IsVersion(version) {
		return r, nil
	}
	labelled := r
	labelled.Label = version
	match, err := release.LookupOffered(version)
	switch {
	case err == nil:
		labelled.Release, labelled.Version, labelled.Exact, labelled.DetectedBy = match.Release, match.Asked, match.Exact, ByLabel
	case own:
		// The base stays: it is as good as that of any other release.
		labelled.Release, labelled.Exact, labelled.DetectedBy = release.Default(), false, Unknown
		labelled.Version = strings.TrimPrefix(version, "v")
		return labelled, nil
	default:
		return r, nil
	}
	if r.Name != "" {
		labelled.Base, err = baseConfig(labelled.Release, r.Name)
	}
	return labelled, err
}
