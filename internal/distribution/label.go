package distribution

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// WithLabel returns the distribution with the release that a label of its image names. own reports whether the label
// contains only the server's release. The spec takes precedence, then an own label, then the tag. Any other label
// (org.opencontainers.image.version) comes last, and only counts if it has an offered release, because images inherit
// this label with the version of their base image. Text that is not a version has no effect. An own label with a
// release that is not offered results in Unknown.
func (r Resolved) WithLabel(version string, own bool) (Resolved, error) {
	if r.DetectedBy == ByVersion || r.DetectedBy == ByTag && !own || !release.IsVersion(version) {
		return r, nil
	}
	labelled := r
	labelled.Label = version
	match, err := release.LookupOffered(version)
	switch {
	case err == nil:
		labelled.Release, labelled.Version, labelled.Exact, labelled.DetectedBy = match.Release, match.Asked, match.Exact,
			ByLabel
	case own:
		// The base stays the same, because no other base is a better match.
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
