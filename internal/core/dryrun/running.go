package dryrun

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// Running contains the facts about a running stack. With these facts, a plan uses the image, the base configuration and
// the records about the running pods that the operator uses.
type Running struct {
	facts.Running
	// Stack is the stack in the cluster.
	Stack *v1alpha2.LlamaStackDistribution
	// Deployment is the stack's Deployment. Nil means that it does not exist or was not read.
	Deployment *appsv1.Deployment
	// Base is the base configuration that the operator keeps for the stack. Nil means that the operator keeps no base, or
	// that the base was not read.
	Base []byte
}

// NewRunning returns the facts in a stack and in its Deployment. The Deployment may be nil.
func NewRunning(stack *v1alpha2.LlamaStackDistribution, deployment *appsv1.Deployment) *Running {
	found := &Running{Running: facts.Running{Status: stack.Status}, Stack: stack, Deployment: deployment}
	if deployment != nil {
		found.Record, _ = rollout.Parse(deployment.Annotations)
	}
	return found
}

// complete adds the facts about the running stack to the input for a plan.
func (r *Running) complete(input *plan.Input) {
	record := &r.Record
	if r.Deployment != nil {
		input.Running = record
	}
	if record.Distribution.Image == input.Distribution.Image {
		input.Digest = record.Distribution.Digest
	}
	input.RunningRelease, input.Limited, input.StorageSecret = record.Distribution.Release, record.Limited,
		record.StorageSecret
	input.KeepsGroup = plan.KeepsGroup(r.Deployment, record)
}

// Held returns the operator's message about the pod template changes that it postpones until it next replaces the pods.
func (r *Running) Held() string {
	condition := meta.FindStatusCondition(r.Stack.Status.Conditions, v1alpha2.ConditionAdopted)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return ""
	}
	return condition.Message
}

// Unrecorded returns a sentence about a Deployment without a record from this operator, or nil.
func (r *Running) Unrecorded() []string {
	if r.Record.Inputs != "" || r.Deployment == nil {
		return nil
	}
	return []string{fmt.Sprintf("Deployment %q has no record from this operator in the annotation %s, so the "+
		"comparison assumes that the running pods match the spec of the stack; to compare the running pods, run kubectl "+
		"llamastack migrate --dry-run", r.Deployment.Name, names.AnnotationRendered)}
}

// With returns a copy of m with the facts about a running stack, for a plan of the stack's spec or of an edited spec.
// Nil means that no facts are known.
func (m *Manifests) With(r *Running) *Manifests {
	changed := *m
	changed.running = r
	return &changed
}

// known returns what is known of the running stack.
func (m *Manifests) known() *facts.Running {
	if m.running == nil {
		return &facts.Running{}
	}
	return &m.running.Running
}
