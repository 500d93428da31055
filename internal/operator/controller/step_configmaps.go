package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// configMaps holds the data of the ConfigMaps that the spec refers to.
type configMaps struct {
	contents resolve.Contents
	trust    plan.Trust
}

// readConfigMaps reads the ConfigMaps that the spec refers to. It records the references before it reads the
// ConfigMaps, so that a later change to a ConfigMap requeues the stack.
func (r *Reconciler) readConfigMaps(
	ctx context.Context, stack *stack, wishes *intent.Intent, workload *workload, budget *resolve.Budget,
) (configMaps, error) {
	uses := workload.ConfigMaps(stack)
	watched := slices.Clone(uses)
	for _, use := range uses {
		watched = append(watched, use.Here())
	}
	r.references.Set(keyOf(stack), wishes.Secrets, watched)
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
