package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// heavy lists the name prefixes of packages with model weights, libraries for GPUs or gigabytes of files. The test
// environments do not contain these packages.
var heavy = []string{"codeshield", "docling", "fairscale", "torch", "transformers[", "trl", "unstructured["}

// Heavy returns a package that a provider type needs and that the test environments do not contain. It returns "" if
// the type needs no such package.
func Heavy(kind *provider.Type) string {
	for _, requirement := range kind.Packages {
		for _, name := range heavy {
			if strings.HasPrefix(requirement, name) {
				return requirement
			}
		}
	}
	return ""
}

// Light returns the case for a server without Heavy packages: the providers of the base that need such packages are
// disabled. If one of the user's providers needs such a package, Light returns the reason instead.
func (c *Case) Light() (light Case, reason string) {
	in, _ := intent.FromObject(c.Object)
	own := map[[2]string]bool{}
	for i := range in.Providers {
		p := &in.Providers[i]
		own[[2]string{p.API, p.ID}] = true
		if kind, ok := c.Release.ResolveType(p.API, p.Type); ok && Heavy(kind) != "" {
			return Case{}, kind.API + "/" + kind.Type + " needs " + Heavy(kind)
		}
	}
	light = *c
	light.Object = c.Object.DeepCopy()
	for _, p := range providersOf(c.Base) {
		kind, ok := c.Release.Provider(p.api, p.providerType)
		item := p.api + "/" + p.id
		if ok && Heavy(kind) != "" && !own[[2]string{p.api, p.id}] && !slices.Contains(light.Object.Spec.Disabled, item) {
			light.Object.Spec.Disabled = append(light.Object.Spec.Disabled, item)
		}
	}
	return light, ""
}

// LightStarter returns the configuration of a release's starter distribution without the Heavy providers. An image that
// does not contain their packages has a similar configuration.
func LightStarter(rel *release.Release) ([]byte, error) {
	base := shipped(rel, starter)
	c := newCase(rel, "light", starter, base, true, fields{})
	light, _ := c.Light() // the case contains no user-defined provider, so Light returns no reason
	outcome, err := light.Run()
	switch {
	case err != nil:
		return nil, err
	case outcome.Refused != "":
		return nil, fmt.Errorf("the starter of %s without its heavy providers is rejected: %s", rel.Line, outcome.Refused)
	case len(outcome.Config) == 0: // the server uses the configuration in its image
		return base, nil
	default:
		return outcome.Config, nil
	}
}
