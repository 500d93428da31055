package distribution

import (
	"slices"
	"strings"
)

// CatalogueImage is an image in the catalog that a stack can run.
type CatalogueImage struct {
	// Name and Version are the distribution and the server release.
	Name, Version string
	// Image is the reference, with its tag.
	Image string
}

// Images returns every catalog image, sorted by name and then by release, in ascending order.
func Images() []CatalogueImage {
	var all []CatalogueImage
	for i := range catalog {
		e := &catalog[i]
		for _, version := range Versions(e.name) {
			all = append(all, CatalogueImage{Name: e.name, Version: version, Image: e.image(version)})
		}
	}
	return all
}

// OverrideKeys returns the keys of Overrides that apply to a release of a distribution, sorted: the name with the
// release, the name with the line if the line selects the release, and the name if the release is the default.
func OverrideKeys(name, version string) []string {
	e := byName(name)
	if e == nil {
		return nil
	}
	keys := []string{name + "@" + version}
	if dot := strings.LastIndexByte(version, '.'); dot > 0 && e.pin(version[:dot]) == version {
		keys = append(keys, name+"@"+version[:dot])
	}
	if e.defaultVersion() == version {
		keys = append(keys, name)
	}
	slices.Sort(keys)
	return keys
}

// RelatedImage returns the name of the environment variable with which an installer replaces the catalog image of a
// distribution with an image in a mirror, for example RELATED_IMAGE_POSTGRES_DEMO for postgres-demo.
func RelatedImage(name string) string {
	return "RELATED_IMAGE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// RelatedImages returns the images in the RELATED_IMAGE variables of an environment.
func RelatedImages(getenv func(string) string) Overrides {
	overrides := Overrides{}
	for _, name := range Known(nil) {
		if image := getenv(RelatedImage(name)); image != "" {
			overrides[name] = image
		}
	}
	return overrides
}

// MovedTo returns the new location of an image from docker.io/llamastack, because the repositories there no longer
// exist. For any other image, it returns an empty string. The placeholder <release> replaces the tag latest or a
// missing tag, because the image with the tag latest in the new location rejects configurations from before 1.0.
func MovedTo(image string) string {
	rest := image
	for _, registry := range []string{"docker.io/", "index.docker.io/"} {
		rest = strings.TrimPrefix(rest, registry)
	}
	repository, found := strings.CutPrefix(rest, "llamastack/")
	if !found {
		return ""
	}
	repository, _, _ = strings.Cut(repository, "@")
	repository, tag, _ := strings.Cut(repository, ":")
	if tag == "" || tag == "latest" {
		tag = "<release>"
	}
	return "docker.io/ogxai/" + repository + ":" + tag
}
