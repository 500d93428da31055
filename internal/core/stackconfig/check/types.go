package check

import (
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/providers"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// unknownTypes reports providers whose type the release does not have, because the server does not start with them. It
// reports only a warning if another image than a published one can add the type, or if the provider exists only with a
// variable that might not be set. If the release is unknown, it reports only types that no release has.
func (c *checker) unknownTypes() {
	if !yamlnode.IsNull(yamlnode.Get(c.Root, "external_providers_dir")) {
		return
	}
	for path, e := range c.Index.All {
		api, known := c.Release.API(e.API)
		switch {
		case !known || !api.Providable || c.hasType(e) || !c.mayExist(e):
		case c.Published && e.Enabled:
			c.failAt(path, func() string { return c.typeMessage(e, "") })
		case c.WarningsFull():
			c.CountWarning()
		case c.Published:
			c.warnAt(path, c.typeMessage(e, ", so the server does not start if the variable "+e.Condition+" is set"))
		default:
			c.warnAt(path, c.typeMessage(e, ", so the server starts only if the image adds this type"))
		}
	}
}

// hasType reports whether the server has, or might load, the type of a provider. A missing type is reported as a
// missing key.
func (c *checker) hasType(e *draft.Provider) bool {
	return e.Kind != nil || e.ProviderType == "" || e.ProviderType == externalprovider.UnknownType ||
		envref.In(e.ProviderType) || yamlnode.Get(e.Node, "module") != nil ||
		c.unknownRelease() && strings.Contains(e.ProviderType, "::") && len(release.LinesWith(e.API, e.ProviderType)) > 0
}

func (c *checker) unknownRelease() bool { return c.Unknown || c.own != nil && c.own.ReleaseUnknown }

// mayExist reports whether the server creates a provider when the variables of the pod are set.
func (c *checker) mayExist(e *draft.Provider) bool {
	return e.ID != draft.DisabledID && (e.Enabled || c.Intent.MoreVariables || !c.Published)
}

func (c *checker) typeMessage(e *draft.Provider, consequence string) string {
	where := "release " + c.Release.Line
	if c.unknownRelease() {
		where = "any known release"
	}
	return fmt.Sprintf("%q is not a type of %s provider in %s%s%s", e.ProviderType, draft.APIField(e.API), where, consequence,
		providers.MeantType(c.Draft, &intent.Provider{API: e.API, Type: e.ProviderType}))
}
