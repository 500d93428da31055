package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// configMaps holds the data of the ConfigMaps that the spec refers to.
type configMaps struct {
	contents resolve.Contents
	trust    plan.Trust
}

// readConfigMaps reads the ConfigMaps that the spec refers to. It records the references before it reads the
// ConfigMaps, so that a later change to a ConfigMap requeues the stack.
//
// If the running configuration is from a ConfigMap in another namespace, and the stack is no longer allowed to read
// this ConfigMap, a ConfigMap in the stack's own namespace does not replace it.
func (r *Reconciler) readConfigMaps(
	ctx context.Context, stack *stack, wishes *intent.Intent, running *rollout.Record, budget *resolve.Budget,
) (configMaps, error) {
	uses := slices.Concat(intent.ConfigMaps(stack), intent.TrustedCA(stack))
	watched := slices.Clone(uses)
	for i := range uses {
		uses[i].NoOther = slices.Contains(running.Elsewhere, uses[i].ID())
		watched = append(watched, uses[i].Here())
	}
	r.references.set(keyOf(stack), wishes.Secrets, watched)
	contents, err := r.configMaps.Get(ctx, keyOf(stack), uses, budget)
	found := configMaps{contents: contents}
	if err == nil {
		found.trust, err = readTrust(stack, contents)
	}
	return found, err
}

func readTrust(stack *stack, contents resolve.Contents) (plan.Trust, error) {
	trust, unusable := plan.ReadTrust(stack, contents)
	if len(unusable) == 0 {
		return trust, nil
	}
	sentences := make([]string, 0, len(unusable))
	for _, key := range unusable {
		sentences = append(sentences, fmt.Sprintf("Key %q of ConfigMap %q in namespace %q cannot be used: %s. Referenced by: %s",
			key.Key, key.Use.Name, cmp.Or(key.Use.Namespace, stack.Namespace), key.Problem, key.Use.Path))
	}
	return trust, &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonConfigMapValueUnusable,
		Message: strings.Join(sentences, "\n"), Retry: status.OnReferenceChange,
	}
}
