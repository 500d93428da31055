package ogxserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// firstRelease is the first release whose server is called OGX.
const firstRelease = "0.8.0"

// repository is the prefix of the image reference for an OGXServer's distribution. The name of the distribution follows
// it.
const repository = "docker.io/ogxai/distribution-"

// distribution selects the server that runs. An OGXServer does not select a release. It runs the newest image at the
// time of the pull.
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
		c.differs(fmt.Sprintf("No OGX release has the distribution %q, so this is the image that the OGXServer requested. "+
			"Set the tag to that of the running image, because the operator configures the server for the release in the tag.", name), append(at, "image")...)
	default:
		c.move("spec.distribution.name", "spec.distribution.name")
		c.differs(fmt.Sprintf("The operator does not offer the distribution %q. "+
			"Add it to image-overrides in the operator's ConfigMap, or set the image instead.", name), append(at, "name")...)
	}
}

// offered returns a distribution's releases starting with firstRelease, in ascending order.
func offered(name string) []string {
	return slices.DeleteFunc(distribution.Versions(name),
		func(v string) bool { return release.Compare(v, firstRelease) < 0 })
}

// version writes the running release if the status contains it and the operator offers it. Otherwise, it writes the
// newest release that the operator offers.
func (c *conversion) version(name string, versions []string) {
	runs, newest := c.text("status.version.serverVersion"), versions[len(versions)-1]
	place := []string{"spec", "distribution", "version"}
	version := newest
	switch {
	case slices.Contains(versions, runs):
		version = runs
		c.note("This is the release that the OGXServer ran. An OGXServer uses the tag latest. The stack keeps this release until you set a different release.", place...)
	case runs != "":
		c.differs(fmt.Sprintf("The OGXServer ran release %s, which this operator does not offer. The stack runs the newest release that the operator offers.", runs), place...)
	default:
		c.differs("An OGXServer uses the tag latest, which can refer to any release. "+
			"The stack runs the newest release that the operator offers, until you set a different release. "+
			"The release that the OGXServer runs is in its status.version.serverVersion.", place...)
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
	c.differs(fmt.Sprintf("The OGXServer ran the image %q. Set spec.distribution.image to this image instead of setting name and version, "+
		"or add the image to image-overrides in the operator's ConfigMap.", runs), "spec", "distribution", "name")
}
