package distribution

import (
	"errors"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// DetectedBy is the way in which the server release was detected.
type DetectedBy string

const (
	// ByVersion means that spec.distribution.version specifies the release.
	ByVersion DetectedBy = "version"
	// ByCatalogue means that the catalog specifies the release.
	ByCatalogue DetectedBy = "catalogue"
	// ByLabel means that a label of the image specifies the release.
	ByLabel DetectedBy = "label"
	// ByTag means that the image's tag specifies the release.
	ByTag DetectedBy = "tag"
	// Unknown means that the release is unknown, or that Resolved.Version is a release that is not offered.
	// Resolved.Release is then the data of the default line.
	Unknown DetectedBy = "unknown"
)

// Overrides replace images. A key is a name, or a name and a version as `name@version`, which takes precedence. A key
// can also add a name that the catalog does not have.
type Overrides map[string]string

// Resolved is a distribution with everything that its name determines.
type Resolved struct {
	// Name is the distribution's name. Empty means a bare image.
	Name string
	// Version is the server release, such as `0.7.1`, or only its line. Empty means that the release is unknown.
	Version string
	// Image is the image to run.
	Image string
	// Release is the data for the server's configuration. It is never nil.
	Release *release.Release
	// Exact reports whether Release is the data of Version itself. Otherwise it is the data of the nearest known release,
	// or, when DetectedBy is Unknown, of the default line, and the caller must warn the user.
	Exact bool
	// DetectedBy is the way in which the release was detected.
	DetectedBy DetectedBy
	// Label is the release from a label of the image, when the label determined the release. See WithLabel.
	Label string
	// Entrypoint is the program, with its arguments, that the image starts. Nil means that the entrypoint is not known
	// with certainty.
	Entrypoint []string
	// Base is the config that the distribution uses by default, as YAML. Callers must not change it. It is nil for a
	// bare image, and for a name that only the overrides add. In these cases, the image contains its base, or the user
	// supplies one.
	Base []byte
}

// Resolve returns the image, the release and the base config for spec.distribution. Exactly one of name and image must
// be set. A version is optional. With a name, the version selects a release. With an image, the version is the release
// in the image.
func Resolve(name, image, version string, overrides Overrides) (Resolved, error) {
	switch {
	case name != "" && image != "":
		return Resolved{}, errors.New("distribution has both a name and an image; remove one of them")
	case image != "":
		return bareImage(image, version)
	case name == "":
		return Resolved{}, errors.New("distribution has neither a name nor an image; set one of them")
	}
	if override, ok := overrides.Image(name, version); ok {
		return overridden(name, version, override)
	}
	e, found, err := find(name, version, overrides)
	if err != nil {
		return Resolved{}, err
	}
	return named(e, found)
}

// named resolves a catalog entry for one of its releases.
func named(e *entry, version string) (Resolved, error) {
	match, err := release.LookupOffered(version)
	if err != nil {
		return Resolved{}, fmt.Errorf("distribution %q: %w", e.name, err)
	}
	return Resolved{
		Name: e.name, Version: version, Image: e.image(version), Release: match.Release, Exact: match.Exact,
		DetectedBy: ByCatalogue, Base: baseConfig(match.Release, e.name), Entrypoint: entrypoint(match.Release.Runtime),
	}, nil
}

// entrypoint returns the entrypoint of the images that the server's project publishes.
func entrypoint(runtime release.Runtime) []string {
	if !runtime.EntrypointKnown {
		return nil
	}
	return []string{runtime.Entrypoint}
}

// overridden resolves a name whose image is replaced. The replacement may contain a different release than the
// catalog's image, so a requested version and the replacement's tag take precedence over the catalog. A name that
// the administrator adds has no entry, and its base is in the image.
func overridden(name, version, image string) (Resolved, error) {
	r, err := bareImage(image, version)
	if err != nil {
		return Resolved{}, err
	}
	if e, found, err := find(name, version, nil); err == nil && r.DetectedBy == Unknown {
		own, err := named(e, found)
		if err != nil {
			return Resolved{}, err
		}
		if r.Version == "" {
			r = own
		}
		r.Base = own.Base // if the tag is a release that is not offered, DetectedBy remains Unknown and the user is warned
	}
	r.Name, r.Image, r.Entrypoint = name, image, nil // the replacement may have a different entrypoint
	if r.Base == nil && r.DetectedBy != Unknown {
		r.Base = baseConfig(r.Release, name)
	}
	return r, nil
}

// bareImage resolves an image. The release comes from the version or from the image's tag, or is unknown.
func bareImage(image, version string) (Resolved, error) {
	if version != "" {
		r, err := detected(image, version, ByVersion)
		if err != nil {
			return Resolved{}, fmt.Errorf("distribution version: %w", err)
		}
		return r, nil
	}
	if r, err := detected(image, imagename.Tag(image), ByTag); err == nil {
		return r, nil
	}
	unknown := Resolved{Image: image, Release: release.Default(), DetectedBy: Unknown}
	if release.IsVersion(imagename.Tag(image)) {
		unknown.Version = strings.TrimPrefix(imagename.Tag(image), "v")
	}
	return unknown, nil
}

func detected(image, version string, by DetectedBy) (Resolved, error) {
	match, err := release.LookupOffered(version)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{
		Version: match.Asked, Image: image, Release: match.Release, Exact: match.Exact, DetectedBy: by,
	}, nil
}

// baseConfig returns the config that a release contains for a distribution, or nil if it contains none.
func baseConfig(r *release.Release, name string) []byte {
	if d, ok := r.Distribution(name); ok {
		return []byte(d.YAML)
	}
	return nil
}

// Image returns the override for a name. An override for the name and version takes precedence.
func (o Overrides) Image(name, version string) (string, bool) {
	if version != "" {
		if image, ok := o[name+"@"+version]; ok {
			return image, true
		}
	}
	image, ok := o[name]
	return image, ok
}
