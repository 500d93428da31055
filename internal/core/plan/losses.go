package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
)

const pathDistribution = "spec.distribution"

// losses returns the data of the running pods that this plan would leave behind, each with the path of the field that
// the user most likely changed.
func (p *Plan) losses(in Input) []retention.Loss {
	losses := retention.Compare(in.Before, p.Places)
	for i := range losses {
		losses[i].Path = p.fieldOf(&losses[i], in)
		if losses[i].Path == pathDistribution && in.Object.Spec.BaseConfig != nil && in.Before.Release == p.Places.Release {
			losses[i].Path = "spec.baseConfig"
		}
	}
	return losses
}

// OffVolume lists the data that a stack with workload.storage does not store on a volume, or not with certainty.
func OffVolume(spec *v1alpha2.LlamaStackDistributionSpec, places *retention.Places) []retention.Loss {
	if !storage(spec) {
		return nil
	}
	return retention.OffVolume(places, render.MountPath(spec))
}

// fieldOf returns the field that a user most likely changed. A removed provider is missing from the places. The spec
// shows whether the provider was disabled, or removed with the other base providers.
func (p *Plan) fieldOf(loss *retention.Loss, in Input) string {
	gone := func(what string) bool {
		_, there := p.Places.Data[what]
		return !there
	}
	named := providersOf(loss.What)
	for i, item := range in.Object.Spec.Disabled {
		if slices.ContainsFunc(named, func(what string) bool { return disables(item, what, gone(what)) }) {
			return "spec.disabled[" + strconv.Itoa(i) + "]"
		}
	}
	sameRelease := in.Before.Release == p.Places.Release
	if sameRelease && slices.ContainsFunc(named, func(what string) bool { return gone(what) && p.drops(what) }) {
		return intent.BaseProvidersPath.String()
	}
	return loss.Path
}

// providersOf returns the names of data, with the inference provider instead of a model: the public ID of a model
// begins with the ID of its provider.
func providersOf(names []string) []string {
	found := slices.Clone(names)
	for i, what := range found {
		if id, isModel := strings.CutPrefix(what, "models/"); isModel {
			provider, _, _ := strings.Cut(id, "/")
			found[i] = "inference/" + provider
		}
	}
	return found
}

// disables reports whether an entry of spec.disabled matches the name of data. vectorIo, vector_io and vectorIo/faiss
// match vector_io/faiss. vectorIo/* matches it if the parameter gone is true.
func disables(item, what string, gone bool) bool {
	plain := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, "_", "")) }
	itemAPI, itemID, one := strings.Cut(item, "/")
	api, id, _ := strings.Cut(what, "/")
	return plain(itemAPI) == plain(api) && (!one || itemID == id || itemID == intent.Wildcard && gone)
}

// drops reports whether spec.distribution.baseProviders removed the base provider that stores the named data. The
// provider of the agents API stores responses.
func (p *Plan) drops(what string) bool {
	api, id, named := strings.Cut(what, "/")
	for key := range p.dropped {
		if (key[0] == api || key[0] == "agents" && api == "responses") && (!named || key[1] == id) {
			return true
		}
	}
	return false
}

// Waiting returns the losses that block the rollout, and the words in the stack's annotation that match none of these
// losses.
func (p *Plan) Waiting() (waiting []retention.Loss, unknown []string) {
	return retention.Waiting(p.Losses, p.input.Stack.Annotations[retention.Annotation])
}
