package planning

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// ConfigMaps holds the data of the ConfigMaps that the spec refers to.
type ConfigMaps struct {
	Contents resolve.Contents
	Trust    plan.Trust
}

// ReadConfigMaps reads the ConfigMaps that the spec refers to. It records the references before it reads the
// ConfigMaps, so that a later change to a ConfigMap requeues the stack.
func (p *Planner) ReadConfigMaps(
	ctx context.Context, stack *stack, wishes *intent.Intent, workload *workload, budget *resolve.Budget,
) (ConfigMaps, error) {
	uses := workload.ConfigMaps(stack)
	watched := slices.Clone(uses)
	for _, use := range uses {
		watched = append(watched, use.Here())
	}
	p.Watch(client.ObjectKeyFromObject(stack), wishes.Secrets, watched)
	contents, err := p.ConfigMaps.Get(ctx, client.ObjectKeyFromObject(stack), uses, budget)
	found := ConfigMaps{Contents: contents}
	if err == nil {
		found.Trust, err = readTrust(stack, contents)
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
