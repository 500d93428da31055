package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

const (
	maxDisabled       = 256
	maxDisabledLength = 128
)

// disabledKnown rejects an API that no release has. Package stackconfig warns about an API that only other releases
// have.
func disabledKnown(c *checks) {
	for i, text := range c.Spec.Disabled {
		api, _, _ := strings.Cut(text, "/")
		if api != "" && !strings.Contains(api, intent.Wildcard) && serverAPI(api) == "" {
			c.Invalid(spec("disabled").Index(i), api, "%s", unknownAPI(api))
		}
	}
}

func disabledCount(c *checks) {
	c.atMost(spec("disabled"), len(c.Spec.Disabled), maxDisabled)
	for i, text := range c.Spec.Disabled {
		if len(text) > maxDisabledLength {
			c.Invalid(spec("disabled").Index(i), len(text),
				"%d characters exceed the limit of %d for an API and a provider's ID: remove the entry", len(text), maxDisabledLength)
		}
	}
}

func disabledTwice(c *checks) {
	for i, text := range repeated(c.Spec.Disabled) {
		c.duplicate(spec("disabled").Index(i), text)
	}
}

// serverAPI returns the server's name for an API. The name in the parameter is in camelCase or snake_case. The result
// is an empty string when no release has the API.
func serverAPI(name string) string {
	if api := draft.APIName(name); slices.Contains(release.KnownAPIs(), api) {
		return api
	}
	return ""
}

func unknownAPI(api string) string {
	known := make([]string, 0, len(release.KnownAPIs()))
	for _, name := range release.KnownAPIs() {
		known = append(known, draft.APIField(name))
	}
	slices.Sort(known)
	message := fmt.Sprintf("%q is not an API of any server release", api)
	if near := suggest.Nearest(api, known); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", message, near)
	}
	return message + "; known APIs: " + strings.Join(known, ", ")
}
