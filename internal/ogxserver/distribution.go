package ogxserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// firstRelease is the first release whose server is called OGX.
const firstRelease = "0.8.0"

// repository is the prefix of the image names that an OGXServer's distribution stands for.
const repository = "docker.io/ogxai/distribution-"

// distribution selects the server that runs. An OGXServer has no release: its image is the newest at the time of a
// pull.
func (c *conversion) distribution() {
	c.move("spec.distribution.image", "spec.distribution.image")
	name := c.text("spec.distribution.name")
	if name == "" {
		return
	}
	at := []string{"spec", "distribution"}
	versions := offered(name)
	switch {
	case len(versions) > 0:
		c.move("spec.distribution.name", "spec.distribution.name")
		c.version(name, versions)
	case slices.Contains(distribution.Known(nil), name):
		c.put(repository+name+":latest", "spec", "distribution", "image")
		c.went(path("spec.distribution.name"), path("spec.distribution.image"))
		c.differs(fmt.Sprintf("No release that is called OGX has the distribution %q, so this is the image that the OGXServer asked for. "+
			"Write the tag that runs: the operator configures the server by its release.", name), append(at, "image")...)
	default:
		c.move("spec.distribution.name", "spec.distribution.name")
		c.differs(fmt.Sprintf("The operator knows no distribution %q: add it to image-overrides of the operator's ConfigMap, or write "+
			"the image in its place.", name), append(at, "name")...)
	}
}

// offered returns the releases of a distribution that are called OGX, ascending.
func offered(name string) []string {
	return slices.DeleteFunc(distribution.Versions(name), func(v string) bool { return release.Compare(v, firstRelease) < 0 })
}

// version writes the running release if the status contains it, otherwise the newest.
func (c *conversion) version(name string, versions []string) {
	runs, newest := c.text("status.version.serverVersion"), versions[len(versions)-1]
	place := []string{"spec", "distribution", "version"}
	version := newest
	switch {
	case slices.Contains(versions, runs):
		version = runs
		c.note("The release that the OGXServer ran. An OGXServer takes the tag latest; this release stays until you write another.", place...)
	case runs != "":
		c.differs(fmt.Sprintf("The OGXServer ran release %s, which this operator does not offer: this is the newest that it does.", runs), place...)
	default:
		c.differs("An OGXServer takes the tag latest, whichever release that is; this is the newest that the operator offers, and it stays "+
			"until you write another. The release that runs is in status.version.serverVersion of the OGXServer.", place...)
	}
	c.put(version, place...)
	c.otherImage(name)
	if c.get("spec.baseConfig") != nil {
		return
	}
	if resolved, err := distribution.Resolve(name, "", version, nil); err == nil {
		c.base = readBase(resolved.Base)
	}
}

// otherImage adds a warning if an administrator replaced the image of the distribution.
func (c *conversion) otherImage(name string) {
	runs := c.text("status.resolvedDistribution.image")
	bare, _, _ := strings.Cut(runs, "@")
	if bare == "" || strings.TrimSuffix(bare, ":latest") == repository+name {
		return
	}
	c.differs(fmt.Sprintf("The OGXServer ran the image %q: write it as image in place of name and version, or add it to image-overrides of "+
		"the operator's ConfigMap.", runs), "spec", "distribution", "name")
}
