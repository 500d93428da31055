package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
)

const pathDistribution = "spec.distribution"

// losses returns the data of the running pods that this plan would leave behind, each with the responsible field.
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

// fieldOf returns the field that a user most likely changed. The places show a removed provider, and the spec shows
// whether it was disabled.
func fieldOf(loss *retention.Loss, spec *v1alpha2.LlamaStackDistributionSpec) string {
	for i, item := range spec.Disabled {
		if slices.ContainsFunc(loss.What, func(what string) bool { return disables(item, what) }) {
			return "spec.disabled[" + strconv.Itoa(i) + "]"
		}
	}
	return loss.Path
}

// disables reports whether an entry of spec.disabled matches an owner of data: vectorIo, vector_io or vectorIo/faiss
// matches vector_io/faiss.
func disables(item, what string) bool {
	plain := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, "_", "")) }
	itemAPI, itemID, one := strings.Cut(item, "/")
	api, id, _ := strings.Cut(what, "/")
	return plain(itemAPI) == plain(api) && (!one || itemID == id)
}

// Waiting returns the losses that block the roll-out, and the words in the stack's annotation that accept none of them.
func (p *Plan) Waiting() (waiting []retention.Loss, unknown []string) {
	return retention.Waiting(p.Losses, p.input.Stack.Annotations[retention.Annotation])
}
