package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
)

// bounds enforces the administrator's bounds for the namespace before the operator reads an image or a referenced
// object of the stack. The pods of a stack that exceeds a bound do not change.
func (r *Reconciler) bounds(ctx context.Context, stack *stack, image *resolvedImage) (*bounds.Rule, error) {
	if image.config.Unknown(operatorconfig.KeyBounds) {
		return nil, invalid(v1alpha2.ReasonForbiddenByBounds, fmt.Sprintf(
			"The key %q in the operator's ConfigMap is invalid, so the bounds for this stack are unknown; ask an administrator to correct the key",
			operatorconfig.KeyBounds))
	}
	labels := map[string]string(nil)
	if image.config.Bounds.NeedLabels(stack.Namespace) {
		var err error
		if labels, err = NamespaceLabels(ctx, r.direct, stack.Namespace); err != nil {
			return nil, err
		}
	}
	rule := image.config.Bounds.For(stack.Namespace, labels)
	if rule == nil {
		return nil, nil
	}
	if errs := plan.Bounded(rule, stack, image.Distribution.Image); len(errs) > 0 {
		return nil, invalid(v1alpha2.ReasonForbiddenByBounds, intent.Messages(errs))
	}
	return rule, r.stacksBounded(ctx, stack, rule)
}

// NamespaceLabels reads the labels of a namespace. They are not cached, because an operator that is limited to some
// namespaces cannot watch namespaces, and because only few bounds depend on labels.
func NamespaceLabels(ctx context.Context, direct client.Reader, name string) (map[string]string, error) {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := direct.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return nil, fmt.Errorf("read the labels of namespace %q, on which its bounds depend: %w", name, err)
	}
	return namespace.Labels, nil
}

// stacksBounded checks that the number of older stacks in the namespace is below the bound.
func (r *Reconciler) stacksBounded(ctx context.Context, stack *stack, rule *bounds.Rule) error {
	if rule.Stacks == nil {
		return nil
	}
	var stacks v1alpha2.LlamaStackDistributionList
	// read-only
	if err := r.cache.List(ctx, &stacks, client.InNamespace(stack.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the stacks in namespace %q: %w", stack.Namespace, err)
	}
	older := 0
	for i := range stacks.Items {
		if olderThan(&stacks.Items[i], stack) {
			older++
		}
	}
	if older < *rule.Stacks {
		return nil
	}
	return invalid(v1alpha2.ReasonForbiddenByBounds, fmt.Sprintf(
		"Namespace %q can have at most %s, and this stack exceeds the limit; delete older stacks, or ask an administrator to change the key %q in the operator's ConfigMap",
		stack.Namespace, count(*rule.Stacks, "stack"), operatorconfig.KeyBounds))
}

// olderThan reports whether stack a is older than stack b. For stacks that were created in the same second, it compares
// the names.
func olderThan(a, b *v1alpha2.LlamaStackDistribution) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}
