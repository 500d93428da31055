package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// heavy are the beginnings of the names of packages that bring model weights, a GPU's libraries or gigabytes with them:
// the types that need one are not installed where the tests run.
var heavy = []string{"codeshield", "docling", "fairscale", "torch", "transformers[", "trl", "unstructured["}

// Heavy is the package that keeps a type from being installed where the tests run, empty when none does.
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

// Light is the case as a user would write it for a server without what is Heavy: the base's providers that need it are
// disabled. The reason says why a case cannot be made light: the user's own provider is heavy.
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

// LightStarter is the configuration of a release's starter distribution without the providers that are Heavy: what an
// image without their packages comes with.
func LightStarter(rel *release.Release) ([]byte, error) {
	base := shipped(rel, starter)
	c := newCase(rel, "light", starter, base, true, fields{})
	light, _ := c.Light() // there is no provider of a user's
	outcome, err := light.Run()
	switch {
	case err != nil:
		return nil, err
	case outcome.Refused != "":
		return nil, fmt.Errorf("starter of %s without its heavy providers: %s", rel.Line, outcome.Refused)
	case len(outcome.Config) == 0: // it has none
		return base, nil
	default:
		return outcome.Config, nil
	}
}
