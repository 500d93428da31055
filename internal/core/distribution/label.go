package distribution

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// WithLabel returns the distribution with the release in a label of its image. The parameter `own` reports whether the
// label is the operator's own (io.llamastack.server.version), which contains only the release of the server. A release
// in the spec takes precedence, then the operator's own label, then the tag. Any other label
// (org.opencontainers.image.version) comes last, and counts only if it contains an offered release, because images
// inherit this label with the version of their base image. A label that does not contain a version has no effect. If
// the operator's own label contains a release that is not offered, DetectedBy is Unknown.
func (r Resolved) WithLabel(version string, own bool) Resolved {
	if r.DetectedBy == ByVersion || r.DetectedBy == ByTag && !own || !release.IsVersion(version) {
		return r
	}
	labeled := r
	labeled.Label = version
	match, err := release.LookupOffered(version)
	switch {
	case err == nil:
		labeled.Release, labeled.Version, labeled.Exact, labeled.DetectedBy = match.Release, match.Asked, match.Exact,
			ByLabel
	case own:
		// The base remains the same, because no other base is a better match.
		labeled.Release, labeled.Exact, labeled.DetectedBy = release.Default(), false, Unknown
		labeled.Version = strings.TrimPrefix(version, "v")
		return labeled
	default:
		return r
	}
	if r.Name != "" {
		labeled.Base = baseConfig(labeled.Release, r.Name)
	}
	return labeled
}
