package certificate

import (
	"context"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Untrusted is the condition of the CustomResourceDefinition while the operator cannot make the API server trust its
// conversion webhook. The status of the condition is True. The condition exists only while the problem lasts, so that
// an operator without this problem leaves no condition behind when you remove the operator. The condition is on the
// definition and not on the stacks, because a stack that is written while the conversion fails can lose its managed
// fields.
const Untrusted apiextensionsv1.CustomResourceDefinitionConditionType = "llamastack.io/ConversionUntrusted"

// ReasonNotInjected is the reason of Untrusted: the definition has a different bundle, and the operator cannot inject
// its own.
const ReasonNotInjected = "CABundleNotInjected"

// maxMessage is the maximum length in bytes of a condition's message, as in metav1.Condition.
const maxMessage = 32 << 10

// condition sets the definition's condition for a problem, or removes it if `problem` is empty, and returns the pause
// before the next call of the function `look`. It does not compare messages, because the message for the same problem
// can vary. A ValidatingWebhookConfiguration has no conditions.
func (t *target) condition(ctx context.Context, found *webhooks, problem string) time.Duration {
	now := t.clock.Now()
	told := slices.ContainsFunc(found.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == Untrusted
	})
	switch {
	case t.kind != definitionKind || told == (problem != ""):
		return longestPause
	case t.tells.TokensAt(now) < 1:
		return writePause
	}
	if err := t.tell(ctx, problem, now); err != nil {
		log.FromContext(ctx).V(1).Info("Cannot write the condition", "kind", t.kind, "name", t.name, "error", err.Error())
		return quietRetry
	}
	t.tells.AllowN(now, 1)
	return longestPause
}

// tell writes the condition for a problem, or removes it. It does not change the conditions of other programs.
func (t *target) tell(ctx context.Context, problem string, now time.Time) error {
	conditions := []any{}
	if problem != "" {
		conditions = append(conditions, map[string]any{
			"type": string(Untrusted), "status": string(apiextensionsv1.ConditionTrue),
			"lastTransitionTime": now.UTC().Format(time.RFC3339),
			"reason":             ReasonNotInjected, "message": problem[:min(len(problem), maxMessage)],
		})
	}
	definition := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": conditions}}}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind(t.kind))
	definition.SetName(t.name)
	_, err := t.objects.ApplyStatus(ctx, t.name, definition,
		metav1.ApplyOptions{FieldManager: names.FieldManager, Force: true})
	return err
}
