package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
)

// state holds the results of the steps of one reconcile, with a field for each step that has a result. A step that
// fails leaves the results that it has found. Only the list of steps assigns these fields; preflight and apply update
// the content of owned.
type state struct {
	stack  *stack
	report report

	workload   workload
	intent     *intent.Intent // set by the step admit
	image      resolvedImage
	labels     imageLabels
	configMaps configMaps
	secrets    secrets
	base       *plan.Base
	external   externalImages
	planned    planned
	owned      owned
	// leaves lists the data that this change leaves behind, as its record names it. The step retention sets it.
	leaves  []string
	applied applied
}

// stack is the object that is reconciled. Its status is the one that was last written.
type stack = v1alpha2.LlamaStackDistribution

// workload is the running workload, as the caches had it before the first step.
type workload struct {
	// deployment is the stack's Deployment. Nil means that there is none.
	deployment  *appsv1.Deployment
	replicaSets []appsv1.ReplicaSet
	// running is the record of that Deployment. It is empty if an operator for v1alpha1 has written the template since.
	running rollout.Record
}

// live returns the workload after the steps, because apply may have changed the Deployment.
func (s *state) live() *workload {
	now := s.workload
	if s.applied.deployed() {
		now.deployment = s.applied.deployment
	}
	return &now
}

func keyOf(stack *stack) types.NamespacedName { return childKey(stack, stack.Name) }

func childKey(stack *stack, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: stack.Namespace, Name: name}
}

// ownerOf describes a stack to the applier of its children.
func ownerOf(stack *stack) apply.Owner {
	owner := apply.Owner{
		UID: stack.UID, Namespace: stack.Namespace, Name: stack.Name, Labels: names.ChildSelector(stack.Name),
		// An older operator used the name of the stack as its field manager.
		Predecessors: []apply.Manager{{Name: stack.Name, Operation: metav1.ManagedFieldsOperationApply}},
		Mark:         apply.Mark{Kind: kindDeployment, Annotation: names.AnnotationRendered, Value: rollout.ByPredecessor},
	}
	if last := lastOtherWrite(stack).Time; last != nil {
		owner.PredecessorsUntil = *last
	}
	for _, manager := range names.PredecessorManagers() {
		owner.Predecessors = append(owner.Predecessors, apply.Manager{
			Name:      manager,
			Operation: metav1.ManagedFieldsOperationUpdate,
		})
	}
	return owner
}
