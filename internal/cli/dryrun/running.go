package dryrun

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
)

// Running contains the facts about a running stack. With these facts, a plan uses the image, the base configuration and
// the records about the running pods that the operator uses.
type Running struct {
	// Stack is the stack in the cluster.
	Stack *v1alpha2.LlamaStackDistribution
	// Deployment is the stack's Deployment. Nil means that it does not exist or was not read.
	Deployment *appsv1.Deployment
	// Record is the operator's record on the Deployment. It is empty if a different operator rendered the Deployment.
	Record rollout.Record
	// Base is the base configuration that the operator keeps for the stack. Nil means that the operator keeps no base, or
	// that the base was not read.
	Base []byte
}

// NewRunning returns the facts in a stack and in its Deployment. The Deployment may be nil.
func NewRunning(stack *v1alpha2.LlamaStackDistribution, deployment *appsv1.Deployment) *Running {
	found := &Running{Stack: stack, Deployment: deployment}
	if deployment != nil {
		found.Record, _ = rollout.Parse(deployment.Annotations)
	}
	return found
}

// asks returns the distribution in the status, and reports whether a spec names the same distribution and version.
func (r *Running) asks(spec *v1alpha2.LlamaStackDistributionSpec) (*v1alpha2.ResolvedDistribution, bool) {
	known := r.Stack.Status.ResolvedDistribution
	asked := spec.Distribution
	return known, known != nil && asked.Name != "" && known.Name == asked.Name && known.Version == asked.Version
}

// images returns the image overrides for a spec. A running stack keeps its image until the name or the version of its
// distribution changes. An override in the operator's ConfigMap takes precedence.
func (r *Running) images(
	spec *v1alpha2.LlamaStackDistributionSpec, configured distribution.Overrides,
) distribution.Overrides {
	known, same := r.asks(spec)
	asked := spec.Distribution
	if _, overridden := configured.Image(asked.Name, asked.Version); overridden || !same {
		return configured
	}
	image := known.Catalogue()
	if known.ImageFrom == v1alpha2.ImageFromOperatorConfig || known.ImageFrom == v1alpha2.ImageFromRelatedImage {
		image = known.Image
	}
	current, err := distribution.Resolve(asked.Name, "", asked.Version, configured)
	if image == "" || err == nil && current.Image == image {
		return configured
	}
	images := maps.Clone(configured)
	if images == nil {
		images = distribution.Overrides{}
	}
	key := asked.Name
	if asked.Version != "" {
		key += "@" + asked.Version
	}
	images[key] = image
	return images
}

// labeled returns a distribution with the release that the operator found in a label of the image.
func (r *Running) labeled(resolved distribution.Resolved) (distribution.Resolved, error) {
	if label := r.Record.Distribution.Label; label != "" && r.Record.Distribution.Image == resolved.Image {
		return resolved.WithLabel(label, true)
	}
	return resolved, nil
}

// keptBase returns the base of the running configuration, or nil if the operator does not keep using this base. The
// operator uses the same base until the distribution or the image changes, unless this base came from the ConfigMap in
// spec.baseConfig.
func (r *Running) keptBase(spec *v1alpha2.LlamaStackDistributionSpec, resolved distribution.Resolved) *plan.Base {
	record, asked := &r.Record, spec.Distribution
	if r.Base == nil || record.BaseSource == string(v1alpha2.ConfigSourceConfigMap) ||
		record.Distribution.Name != asked.Name ||
		record.Distribution.Version != asked.Version || record.Distribution.Image != resolved.Image {
		return nil
	}
	return &plan.Base{Data: r.Base, Source: v1alpha2.ConfigSource(record.BaseSource)}
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
	if known, same := r.asks(&input.Object.Spec); same {
		input.CatalogueImage = known.Catalogue()
	}
	input.RunningRelease, input.Limited, input.StorageSecret = record.Distribution.Release, record.Limited,
		record.StorageSecret
	input.KeepsGroup = plan.KeepsGroup(r.Deployment, record)
}

// Places returns the places where the running pods store data. Nil means that the record does not contain them.
func (r *Running) Places() *retention.Places { return r.Record.Places }

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
func (m *Manifests) With(r *Running, spec *v1alpha2.LlamaStackDistributionSpec) *Manifests {
	changed := *m
	changed.running = r
	changed.Config.Images = r.images(spec, m.Config.Images)
	return &changed
}
