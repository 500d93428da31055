package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// state holds the results of the steps of one reconcile, with a field for each step that has a result. A failed step
// keeps its partial results. Only the list of steps assigns these fields, with two exceptions: the steps named
// preflight and apply also update the field owned, and the steps named configmaps and secrets both use the budget.
type state struct {
	stack  *stack
	report report.Report

	workload   workload
	intent     *intent.Intent // set by the step admit
	warnings   []string       // about the spec, set by the step admit
	image      images.Image
	bounds     *bounds.Rule // nil if the namespace has no bounds
	labels     images.Labels
	budget     resolve.Budget
	configMaps planning.ConfigMaps
	secrets    planning.Secrets
	base       *plan.Base
	external   images.External
	planned    planning.Planned
	owned      owned
	// leaves lists the data that the pending change to the pods leaves behind, in the format of the record. The step
	// retention sets it.
	leaves  []string
	applied applied
}

// known returns what the earlier steps read for the plan.
func (s *state) known() plan.Input {
	return plan.Input{
		Object: s.stack, Intent: s.intent, Distribution: s.labels.Distribution, Digest: s.labels.Digest,
		CatalogueImage: s.image.Catalog, Running: s.workload, Base: s.base, Bounds: s.bounds,
		Override: plan.ReadOverride(s.stack, s.configMaps.Contents), Trust: s.configMaps.Trust,
		References: s.secrets.References, Serving: s.secrets.Values.Serving(render.TLSSecret(&s.stack.Spec)),
		Packages: s.external.Packages, PackageDigests: s.external.Digests,
	}
}

// stack is the object that is reconciled, with its last written status.
type stack = v1alpha2.LlamaStackDistribution

// workload is the running workload, read from the caches before the first step.
type workload = facts.Running

// live returns the workload with the Deployment after it was applied.
func (s *state) live() *workload {
	now := s.workload
	if s.applied.deployed() {
		now.Deployment = s.applied.deployment
	}
	return &now
}

func keyOf(stack *stack) types.NamespacedName { return childKey(stack, stack.Name) }

func childKey(stack *stack, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: stack.Namespace, Name: name}
}

// ownerOf returns a stack as the owner of its children.
func ownerOf(stack *stack) apply.Owner {
	owner := apply.Owner{
		UID: stack.UID, Namespace: stack.Namespace, Name: stack.Name, Labels: names.ChildSelector(stack.Name),
		Predecessors: names.Predecessors(stack.Name),
		Mark:         apply.Mark{Kind: kindDeployment, Annotation: names.AnnotationRendered, Value: rollout.ByPredecessor},
	}
	if last := lastOtherWrite(stack).Time; last != nil {
		owner.PredecessorsUntil = *last
	}
	return owner
}
