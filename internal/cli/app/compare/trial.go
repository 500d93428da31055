package compare

import (
	"context"
	"fmt"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/trial"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// trialPatience is the time limit for the dry run of a stack. Other webhooks take part in it.
const trialPatience = 30 * time.Second

// Planned is a stack with its plan.
type Planned struct {
	Stack   dryrun.Stack
	Outcome *dryrun.Outcome
}

// rendering returns the objects of a stack to try. It returns nil if the operator would apply none.
func (p Planned) rendering() (*trial.Rendering, error) {
	if p.Outcome == nil || p.Outcome.Plan == nil || len(p.Outcome.Errors) > 0 || names.Paused(p.Stack.Object.Annotations) {
		return nil, nil
	}
	return trial.New(p.Stack.Object, p.Outcome.Plan.Objects)
}

// Try asks the API server whether it would accept the objects of a stack, with the permissions of the user. It adds the
// answers to the outcome of the stack. before is the stack that a change replaces, or the zero value.
func Try(ctx context.Context, cluster *kube.Cluster, now, before Planned) error {
	rendered, err := now.rendering()
	if err != nil || rendered == nil {
		return err
	}
	earlier, err := before.rendering()
	if err != nil {
		return err
	}
	rendered.Unlike(earlier)
	ctx, cancel := context.WithTimeout(ctx, trialPatience)
	defer cancel()
	found := trial.Run(ctx, cluster.Client, rendered, earlier)
	add := func(to *[]string, texts []string) {
		for _, text := range intent.BoundedTexts(texts) {
			if now.Stack.Older {
				text = convert.OlderPaths(text)
			}
			*to = append(*to, text)
		}
	}
	add(&now.Outcome.Errors, found.Errors)
	add(&now.Outcome.Warnings, found.Warnings)
	add(&now.Outcome.Notes, found.Unchecked)
	return nil
}

// OnServer adds a dry run on the API server to a check.
func OnServer(
	ctx context.Context, cluster *kube.Cluster, check func(dryrun.Stack) dryrun.Outcome,
) func(dryrun.Stack) dryrun.Outcome {
	return func(s dryrun.Stack) dryrun.Outcome {
		found := check(s)
		if err := Try(ctx, cluster, Planned{s, &found}, Planned{}); err != nil {
			found.Notes = append(found.Notes, fmt.Sprintf("the API server was not asked: %v", err))
		}
		return found
	}
}
