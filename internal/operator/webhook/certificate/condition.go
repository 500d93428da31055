package certificate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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

// reports returns true if the definition already has the condition for a problem, or if there is neither a condition
// nor a problem. It does not compare messages, because the message for the same problem can vary.
func (w webhooks) reports(problem string) bool {
	return slices.ContainsFunc(w.conditions, func(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return condition.Type == Untrusted
	}) == (problem != "")
}

// tellDefinition returns a function that sets the condition of the CustomResourceDefinition for a problem, or removes
// the condition if `problem` is empty. The function does not change the conditions of other programs.
func tellDefinition(c clients) func(ctx context.Context, problem string, now time.Time) error {
	force := true
	options := metav1.PatchOptions{FieldManager: names.FieldManager, Force: &force}
	return func(ctx context.Context, problem string, now time.Time) error {
		wanted := []any{}
		if problem != "" {
			wanted = append(wanted, apiextensionsv1.CustomResourceDefinitionCondition{
				Type: Untrusted, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
				Reason: ReasonNotInjected, Message: problem[:min(len(problem), maxMessage)],
			})
		}
		patch, err := json.Marshal(map[string]any{
			"apiVersion": apiextensionsv1.SchemeGroupVersion.String(), "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": names.CustomResourceDefinition}, "status": map[string]any{"conditions": wanted},
		})
		if err != nil {
			return fmt.Errorf("encode a condition: %w", err)
		}
		_, err = c.definitions.CustomResourceDefinitions().Patch(ctx, names.CustomResourceDefinition, types.ApplyPatchType,
			patch, options, "status")
		return err
	}
}
