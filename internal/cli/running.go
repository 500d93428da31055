package cli

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

// running is what a cluster shows of a stack that runs. With it, a plan has the image, the base and the pods' history
// that the operator would use.
type running struct {
	stack *v1alpha2.LlamaStackDistribution
	// deployment is the stack's Deployment. Nil means that it does not exist or was not read.
	deployment *appsv1.Deployment
	// record is the record of the Deployment. It is empty if this operator has not rendered it.
	record rollout.Record
	// base is the base configuration that the operator keeps for the stack. Nil means that it keeps none, or that it was
	// not read.
	base []byte
}

func newRunning(stack *v1alpha2.LlamaStackDistribution, deployment *appsv1.Deployment) *running {
	found := &running{stack: stack, deployment: deployment}
	if deployment != nil {
		found.record, _ = rollout.Parse(deployment.Annotations)
	}
	return found
}

// asks reports whether a spec asks for the distribution that the status describes.
func (r *running) asks(spec *v1alpha2.LlamaStackDistributionSpec) (*v1alpha2.ResolvedDistribution, bool) {
	known := r.stack.Status.ResolvedDistribution
	asked := spec.Distribution
	return known, known != nil && asked.Name != "" && known.Name == asked.Name && known.Version == asked.Version
}

// images returns the images for a spec. A running stack keeps the image that it was created with while name and version
// stay the same. An override that an administrator configured takes precedence.
func (r *running) images(
	spec *v1alpha2.LlamaStackDistributionSpec, configured distribution.Overrides,
) distribution.Overrides {
	known, same := r.asks(spec)
	asked := spec.Distribution
	if _, overridden := configured.Image(asked.Name, asked.Version); overridden || !same {
		return configured
	}
	image := known.CatalogueImage
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

// labelled returns a distribution with the release that the operator found in a label of the image.
func (r *running) labelled(resolved distribution.Resolved) (distribution.Resolved, error) {
	if label := r.record.Distribution.Label; label != "" && r.record.Distribution.Image == resolved.Image {
		return resolved.WithLabel(label, true)
	}
	return resolved, nil
}

// keptBase returns the base that the running configuration was generated from. It stays the base while distribution and
// image are the same.
func (r *running) keptBase(spec *v1alpha2.LlamaStackDistributionSpec, resolved distribution.Resolved) *plan.Base {
	record, asked := &r.record, spec.Distribution
	if r.base == nil || record.BaseSource == string(v1alpha2.ConfigSourceConfigMap) ||
		record.Distribution.Name != asked.Name ||
		record.Distribution.Version != asked.Version || record.Distribution.Image != resolved.Image {
		return nil
	}
	return &plan.Base{Data: r.base, Source: v1alpha2.ConfigSource(record.BaseSource)}
}

// complete adds what the cluster shows to the input of a plan.
func (r *running) complete(input *plan.Input) {
	record := &r.record
	if record.Distribution.Image == input.Distribution.Image {
		input.Digest = record.Distribution.Digest
		input.RenderedByTag = record.Template != "" && !record.LeftAsImage &&
			record.Distribution.Release == input.Distribution.Release.Line
	}
	if known, same := r.asks(&input.Object.Spec); same {
		input.CatalogueImage = known.CatalogueImage
	}
	input.RunningRelease, input.Limited, input.StorageSecret = record.Distribution.Release, record.Limited,
		record.StorageSecret
	input.KeepsGroup = plan.KeepsGroup(r.deployment, record)
}

// places returns where the data of the running pods is. Nil means that the record does not contain it.
func (r *running) places() *retention.Places { return r.record.Places }

// held returns the operator's message about parts of the pod template that wait for the next change.
func (r *running) held() string {
	condition := meta.FindStatusCondition(r.stack.Status.Conditions, v1alpha2.ConditionAdopted)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return ""
	}
	return condition.Message
}

// unrecorded returns what stays open because the Deployment shows no record.
func (r *running) unrecorded() []string {
	if r.record.Inputs != "" || r.deployment == nil {
		return nil
	}
	return []string{fmt.Sprintf("Deployment %q has no record of this operator in the annotation %s; the running "+
		"pods are judged by the spec of the stack; "+
		"see kubectl llamastack migrate --dry-run", r.deployment.Name, names.AnnotationRendered)}
}

// with returns the same objects with the facts about a running stack, for a plan of its spec or of an edited one.
func (m *manifests) with(r *running, spec *v1alpha2.LlamaStackDistributionSpec) *manifests {
	changed := *m
	changed.running = r
	changed.config.Images = r.images(spec, m.config.Images)
	return &changed
}
