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

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// Untrusted is the condition of the CustomResourceDefinition while the operator cannot make the API server trust its
// conversion webhook. It is True, and exists only as long as that lasts: where all is well nothing is written, and an
// operator that is removed leaves nothing behind. It is on the definition and not on the stacks: a write of a stack while
// nobody converts can cost its record of field managers.
const Untrusted apiextensionsv1.CustomResourceDefinitionConditionType = "llamastack.io/ConversionUntrusted"

// ReasonNotInjected is the reason of Untrusted: the definition has another bundle, and the operator cannot put its own in.
const ReasonNotInjected = "CABundleNotInjected"

// maxMessage is the most bytes of a condition's message, as metav1.Condition has it.
const maxMessage = 32 << 10

// tells reports whether the definition says already that there is a problem, or that there is none. The words of one may be
// others each time.
func (w webhooks) tells(problem string) bool {
	return slices.ContainsFunc(w.conditions, func(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return condition.Type == Untrusted
	}) == (problem != "")
}

// tellDefinition returns a function that has the CustomResourceDefinition tell of a problem, and of none when that is empty. It
// applies the condition alone, so that those of others stay as they are.
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
		_, err = c.definitions.CustomResourceDefinitions().Patch(ctx, names.CustomResourceDefinition, types.ApplyPatchType, patch, options, "status")
		return err
	}
}
