package distribution

import (
	"fmt"
	"slices"
	"strings"
)

// entry is one distribution of the catalogue in one release.
type entry struct {
	name string
	// version is what spec.distribution.version may say: a release.
	version string
	// image has a pinned tag.
	image string
	// isDefault marks the entry used for the name without a version.
	isDefault bool
}

// catalogue lists the known distributions. An image's tag is one that was seen in public use, which need not be the
// newest release of its line.
var catalogue = []entry{
	{name: "starter", version: "0.7.1", image: "docker.io/ogxai/distribution-starter:0.7.1", isDefault: true},
}

// Known returns the names of the catalogue, sorted, with those that the overrides add.
func Known(overrides Overrides) []string {
	var names []string
	for _, e := range catalogue {
		names = append(names, e.name)
	}
	for key := range overrides {
		name, _, _ := strings.Cut(key, "@")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// UnknownError says that a name, or a name with a version, is not in the catalogue.
type UnknownError struct {
	// Name and Version are what was asked for; Version is empty when the name alone is unknown.
	Name, Version string
	// Known are the names there are, or the versions of the name.
	Known []string
}

func (e *UnknownError) Error() string {
	known := strings.Join(e.Known, ", ")
	if e.Version == "" {
		return fmt.Sprintf("unknown distribution %q; known distributions: %s; or give an image", e.Name, known)
	}
	return fmt.Sprintf("distribution %q has no version %q; known versions: %s", e.Name, e.Version, known)
}

// find returns the entry for a name and a version: a release, or a line, which means its newest entry. Without a version
// it is the name's default. The overrides only add to the names that an error lists.
func find(name, version string, overrides Overrides) (entry, error) {
	var versions []string
	var found *entry
	for i := range catalogue {
		e := &catalogue[i]
		if e.name != name {
			continue
		}
		versions = append(versions, e.version)
		if version == "" && e.isDefault || version == e.version || strings.HasPrefix(e.version, version+".") {
			found = e
		}
	}
	switch {
	case found != nil:
		return *found, nil
	case len(versions) == 0:
		return entry{}, &UnknownError{Name: name, Known: Known(overrides)}
	default:
		return entry{}, &UnknownError{Name: name, Version: version, Known: versions}
	}
}
