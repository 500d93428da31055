package distribution

import (
	"errors"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// DetectedBy says how the server release was found.
type DetectedBy string

const (
	// ByVersion: spec.distribution.version names it.
	ByVersion DetectedBy = "version"
	// ByCatalogue: it is the release of the catalogue's entry.
	ByCatalogue DetectedBy = "catalogue"
	// ByLabel: a label of the image names it.
	ByLabel DetectedBy = "label"
	// ByTag: the image's tag names it.
	ByTag DetectedBy = "tag"
	// Unknown: nothing names it, or what names it (Resolved.Version) is a release that is not offered; the data of the
	// default line is used.
	Unknown DetectedBy = "unknown"
)

// Overrides replace images: the key is a name, or a name and a version as `name@version`, which goes first. A key may
// also add a name that the catalogue does not have.
type Overrides map[string]string

// Resolved is a distribution with everything that the name stands for.
type Resolved struct {
	// Name is the distribution's name, empty for a bare image.
	Name string
	// Version is the server release as far as it is known: `0.7.1`, or a line; empty when it is not known.
	Version string
	// Image is the image to run.
	Image string
	// Release is the data to configure the server by; never nil.
	Release *release.Release
	// Exact says that Release is the data of Version itself. Otherwise it is that of the nearest known release, or, when
	// DetectedBy is Unknown, of the default line, and the user is to be told.
	Exact bool
	// DetectedBy says how the release was found.
	DetectedBy DetectedBy
	// Label is what a label of the image said of the release, when that decided; see WithLabel.
	Label string
	// Entrypoint is the program, with its arguments, that the image starts. Nil: it is not known for sure, and nothing may
	// be built on it.
	Entrypoint []string
	// Base is the config that the distribution runs without any change, as YAML, not to be changed; nil for a bare image, and for a name
	// that only the overrides know: their base is in the image or has to be given.
	Base []byte
}

// Resolve turns what spec.distribution says into an image, a release and a base config. Exactly one of name and image is
// to be given. A version picks a release of the name and is optional; with an image it says which release the image
// holds.
func Resolve(name, image, version string, overrides Overrides) (Resolved, error) {
	switch {
	case name != "" && image != "":
		return Resolved{}, errors.New("distribution has both a name and an image; give one")
	case image != "":
		return bareImage(image, version)
	case name == "":
		return Resolved{}, errors.New("distribution has neither a name nor an image; give one")
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

// named resolves an entry of the catalogue in one of its releases.
func named(e *entry, version string) (Resolved, error) {
	match, err := release.LookupOffered(version)
	if err != nil {
		return Resolved{}, fmt.Errorf("distribution %q: %w", e.name, err)
	}
	base, err := baseConfig(match.Release, e.name)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{
		Name: e.name, Version: version, Image: e.image(version), Release: match.Release, Exact: match.Exact,
		DetectedBy: ByCatalogue, Base: base, Entrypoint: entrypoint(match.Release.Runtime),
	}, nil
}

// entrypoint is that of the images that the server's project publishes.
func entrypoint(runtime release.Runtime) []string {
	if !runtime.EntrypointKnown {
		return nil
	}
	return []string{runtime.Entrypoint}
}

// overridden resolves a name whose image is replaced. The replacement may hold another release than the catalogue's
// image: a version that was asked for and its tag go first. A name of the administrator's own has no entry, and its base
// comes with the image.
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
		r.Base = own.Base // the tag names a release that is not offered: Unknown stays, and the user is told
	}
	r.Name, r.Image, r.Entrypoint = name, image, nil // another image may start otherwise
	if r.Base == nil && r.DetectedBy != Unknown {
		r.Base, err = baseConfig(r.Release, name)
	}
	return r, err
}

// bareImage resolves an image whose release is said by a version or by its tag, or not at all.
func bareImage(image, version string) (Resolved, error) {
	if version != "" {
		match, err := release.LookupOffered(version)
		if err != nil {
			return Resolved{}, fmt.Errorf("distribution version: %w", err)
		}
		return Resolved{
			Version: match.Asked, Image: image, Release: match.Release, Exact: match.Exact, DetectedBy: ByVersion,
		}, nil
	}
	match, err := release.LookupOffered(tag(image))
	if err == nil {
		return Resolved{
			Version: match.Asked, Image: image, Release: match.Release, Exact: match.Exact, DetectedBy: ByTag,
		}, nil
	}
	unknown := Resolved{Image: image, Release: release.Default(), DetectedBy: Unknown}
	if release.IsVersion(tag(image)) {
		unknown.Version = strings.TrimPrefix(tag(image), "v")
	}
	return unknown, nil
}

// baseConfig returns the config that a release ships for a distribution; nil when it ships none of that name.
func baseConfig(r *release.Release, name string) ([]byte, error) {
	d, ok := r.Distribution(name)
	if !ok {
		return nil, nil
	}
	return d.YAML()
}
