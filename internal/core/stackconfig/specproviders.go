package stackconfig

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/providers"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// CheckProviders returns those errors in spec.providers that do not depend on the base: unknown APIs and types, and
// values that a type does not accept. A missing value is not an error, because the base can have it.
func CheckProviders(in *intent.Intent, rel *release.Release) field.ErrorList {
	base, err := baseconfig.Parse([]byte("{}"))
	if err != nil {
		return nil // never happens
	}
	d := draft.New(base, in, rel, "")
	draft.Resolve(d)
	providers.Apply(d)
	for _, one := range d.Index.Providers {
		one.Incomplete = true
	}
	check.Providers(d)
	return d.Finish().Errors
}
