package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
)

// dependents disables the providers that need a user-disabled API, and the providers that in turn need those providers,
// because the server would not start with them. Warnings name the disabled providers.
func dependents(d *draft.Draft) {
	if len(d.Intent.Disabled) == 0 {
		return
	}
	d.Disabled.Dependents = map[[2]string]bool{}
	with := map[*intent.Disabled][]string{}
	for changed := true; changed; {
		changed = false
		for _, e := range d.Index.Providers {
			need, item := missingRequirement(d, e)
			if item == nil {
				continue
			}
			key := [2]string{e.API, e.ID}
			d.Disabled.Providers[key], d.Disabled.Dependents[key], changed = item, true, true
			if e.User != nil {
				d.Ignoredf(e.User.Path, "provider %q is ignored, because it needs the API %s, which %s disables; remove the provider or the entry",
					e.ID, draft.APIField(need), item.Path)
				continue
			}
			with[item] = append(with[item], fmt.Sprintf("%s/%s (%s)", draft.APIField(e.API), e.ID, draft.APIField(need)))
		}
	}
	warnDependents(d, with)
}

// warnDependents warns about the base's providers that each entry in spec.disabled also disables.
func warnDependents(d *draft.Draft, with map[*intent.Disabled][]string) {
	for i := range d.Intent.Disabled {
		item := &d.Intent.Disabled[i]
		if names := with[item]; len(names) > 0 {
			d.Warnf(item.Path, "also disables these providers, each of which needs the missing API in parentheses: %s", strings.Join(names, ", "))
		}
	}
}

// missingRequirement returns an API that a provider requires and the user disabled, with the entry that disabled it.
// The entry is nil when there is no such API.
func missingRequirement(d *draft.Draft, e *draft.Provider) (string, *intent.Disabled) {
	if e.Kind == nil || !e.Enabled || d.Disabled.Has(e.API, e.ID) {
		return "", nil
	}
	for _, api := range e.Kind.Requires {
		need := check.ProvidedBy(d, api)
		if need == "" {
			continue
		}
		if item := disablerOf(d, need); item != nil {
			return need, item
		}
	}
	return "", nil
}

// disablerOf returns the entry in spec.disabled that removes an API completely. It returns nil when the API remains.
func disablerOf(d *draft.Draft, api string) *intent.Disabled {
	if item := d.Disabled.APIs[api]; item != nil {
		return item
	}
	left := slices.ContainsFunc(d.Index.Of(api), func(e *draft.Provider) bool { return !d.Disabled.Has(api, e.ID) })
	if known, _ := d.Release.API(api); left || (known.RoutingTable != "" && !known.NeedsProvider) {
		return nil // the server creates the router of such an API even if it has no providers
	}
	return d.Disabled.Of(api)
}
