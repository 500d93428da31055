package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
)

// dependents disables what needs an API that the user disabled, and what needs that in turn: the server would not start
// with them. Each is named in a warning.
func dependents(d *draft) {
	if len(d.in.Disabled) == 0 {
		return
	}
	d.off.dependents = map[[2]string]bool{}
	with := map[*intent.Disabled][]string{}
	for changed := true; changed; {
		changed = false
		for _, e := range d.index.entries {
			need, item := d.missedBy(e)
			if item == nil {
				continue
			}
			key := [2]string{e.api, e.id}
			d.off.providers[key], d.off.dependents[key], changed = item, true, true
			if e.user != nil {
				d.ignored(e.user.Path, "provider %q is ignored, because it needs the API %s, which %s disables", e.id, apiField(need), item.Path)
				continue
			}
			with[item] = append(with[item], fmt.Sprintf("%s/%s (%s)", apiField(e.api), e.id, apiField(need)))
		}
	}
	for i := range d.in.Disabled {
		item := &d.in.Disabled[i]
		if names := with[item]; len(names) > 0 {
			d.warnf(item.Path, "disables what needs it as well, in brackets the API that is missed: %s", strings.Join(names, ", "))
		}
	}
}

// missedBy is an API that a provider cannot do without and the user disabled, with the entry that did; nil when there is
// none.
func (d *draft) missedBy(e *entry) (string, *intent.Disabled) {
	if e.kind == nil || !e.enabled || d.off.has(e.api, e.id) {
		return "", nil
	}
	for _, api := range e.kind.Requires {
		need := d.providedBy(api)
		if need == "" {
			continue
		}
		if item := d.goneWith(need); item != nil {
			return need, item
		}
	}
	return "", nil
}

// goneWith is the entry of spec.disabled that leaves nothing of an API; nil when the server still has it.
func (d *draft) goneWith(api string) *intent.Disabled {
	if item := d.off.apis[api]; item != nil {
		return item
	}
	left := slices.ContainsFunc(d.index.of(api), func(e *entry) bool { return !d.off.has(api, e.id) })
	if known, _ := d.rel.API(api); left || (known.RoutingTable != "" && !known.NeedsProvider) {
		return nil // a server makes the router of such an API without providers
	}
	return d.off.of(api)
}
