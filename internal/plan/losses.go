package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
)

const pathDistribution = "spec.distribution"

// losses are the data that this plan leaves behind of what runs, each with the field that does it.
func (p *Plan) losses(in Input) []retention.Loss {
	losses := retention.Compare(in.Before, p.Places)
	for i := range losses {
		losses[i].Path = fieldOf(&losses[i], &in.Object.Spec)
		if losses[i].Path == pathDistribution && in.Object.Spec.BaseConfig != nil && in.Before.Release == p.Places.Release {
			losses[i].Path = "spec.baseConfig"
		}
	}
	return losses
}

// fieldOf is the field that a user most likely changed: the places tell a provider that is gone, the spec whether it was
// disabled.
func fieldOf(loss *retention.Loss, spec *v1alpha2.LlamaStackDistributionSpec) string {
	for i, item := range spec.Disabled {
		if slices.ContainsFunc(loss.What, func(what string) bool { return disables(item, what) }) {
			return "spec.disabled[" + strconv.Itoa(i) + "]"
		}
	}
	return loss.Path
}

// disables reports whether an entry of spec.disabled takes data away: vectorIo, vector_io or vectorIo/faiss does for
// vector_io/faiss.
func disables(item, what string) bool {
	plain := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, "_", "")) }
	itemAPI, itemID, one := strings.Cut(item, "/")
	api, id, _ := strings.Cut(what, "/")
	return plain(itemAPI) == plain(api) && (!one || itemID == id)
}

// Waiting are the losses that the roll-out waits for, and the words of the stack's annotation that accept nothing of
// them.
func (p *Plan) Waiting() (waiting []retention.Loss, unknown []string) {
	return retention.Waiting(p.Losses, p.input.Stack.Annotations[retention.Annotation])
}
