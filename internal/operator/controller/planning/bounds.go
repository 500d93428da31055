package planning

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
)

// Bounds enforces the administrator's bounds for the namespace before the operator reads an image or a referenced
// object of the stack. The pods of a stack that exceeds a bound do not change.
func (p *Planner) Bounds(ctx context.Context, stack *stack, image *images.Image) (*bounds.Rule, error) {
	if image.Config.Unknown(operatorconfig.KeyBounds) {
		return nil, invalid(v1alpha2.ReasonForbiddenByBounds, fmt.Sprintf(
			"The key %q in the operator's ConfigMap is invalid, so the bounds for this stack are unknown; ask an administrator to correct the key",
			operatorconfig.KeyBounds))
	}
	labels := map[string]string(nil)
	if image.Config.Bounds.NeedLabels(stack.Namespace) {
		var err error
		if labels, err = resolve.NamespaceLabels(ctx, p.Direct, stack.Namespace); err != nil {
			return nil, err
		}
	}
	rule := image.Config.Bounds.For(stack.Namespace, labels)
	if rule == nil {
		return nil, nil
	}
	if errs := plan.Bounded(rule, stack, image.Distribution.Image); len(errs) > 0 {
		return nil, invalid(v1alpha2.ReasonForbiddenByBounds, intent.Messages(errs))
	}
	return rule, p.stacksBounded(ctx, stack, rule)
}

// settled is the time after which all stacks of the same second are in the cache.
const settled = 2 * time.Second

// stacksBounded checks that the number of older stacks in the namespace is below the bound. The creation time has a
// resolution of one second, and the order of the stacks of one second must not change after the first of them is
// deployed. Otherwise, a user could deploy any number of stacks with descending names. If the order matters, a stack
// therefore waits until the others are known, and those that are within the bound precede.
func (p *Planner) stacksBounded(ctx context.Context, stack *stack, rule *bounds.Rule) error {
	if rule.Stacks == nil {
		return nil
	}
	var stacks v1alpha2.LlamaStackDistributionList
	// read-only
	if err := p.Cache.List(ctx, &stacks, client.InNamespace(stack.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the stacks in namespace %q: %w", stack.Namespace, err)
	}
	older, sameSecond, before := 0, 0, 0
	for i := range stacks.Items {
		switch other := &stacks.Items[i]; {
		case other.UID == stack.UID:
		case other.CreationTimestamp.Before(&stack.CreationTimestamp):
			older++
		case other.CreationTimestamp.Equal(&stack.CreationTimestamp):
			sameSecond++
			if precedes(other, stack) {
				before++
			}
		}
	}
	switch {
	case older+sameSecond < *rule.Stacks:
		return nil
	case older < *rule.Stacks && p.Now().Before(stack.CreationTimestamp.Add(settled)):
		return &status.Failure{
			Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonProgressing,
			Message: "Other stacks of the namespace were created in the same second", Retry: status.Quiet,
		}
	case older+before < *rule.Stacks:
		return nil
	}
	return invalid(v1alpha2.ReasonForbiddenByBounds, fmt.Sprintf(
		"Namespace %q can have at most %s, and this stack exceeds the limit; delete older stacks, or ask an administrator to change the key %q in the operator's ConfigMap",
		stack.Namespace, status.Count(*rule.Stacks, "stack"), operatorconfig.KeyBounds))
}

// precedes reports whether stack a precedes stack b of the same second. A stack that was within the bounds precedes.
func precedes(a, b *v1alpha2.LlamaStackDistribution) bool {
	if within := isWithinBounds(a); within != isWithinBounds(b) {
		return within
	}
	return a.Name < b.Name
}

func isWithinBounds(stack *v1alpha2.LlamaStackDistribution) bool {
	valid := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionValidationSucceeded)
	return valid != nil && valid.Reason != v1alpha2.ReasonForbiddenByBounds
}
