package facts

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// Running contains what is known of a running stack. The zero value stands for a stack that does not run.
type Running struct {
	// Status is the status of the stack.
	Status v1alpha2.LlamaStackDistributionStatus
	// Deployment is the stack's Deployment. Nil means that there is none, or that it was not read. ReplicaSets are those
	// of the stack, if they were read.
	Deployment  *appsv1.Deployment
	ReplicaSets []appsv1.ReplicaSet
	// Record is the operator's record on the Deployment. It is empty if there is no Deployment, if another program
	// rendered the pods, or if the Deployment was not read.
	Record rollout.Record
	// Base is the base configuration in the ConfigMap that the record names. Nil means that it was not read.
	Base []byte
	// VolumeRelease returns the server release that wrote the data on the stack's volume, or an empty string. It is called
	// only for a stack without a record. Nil means that the volume was not read.
	VolumeRelease func() string
}

// NewRunning returns the facts in a stack and in its Deployment. The Deployment may be nil.
func NewRunning(stack *v1alpha2.LlamaStackDistribution, deployment *appsv1.Deployment) *Running {
	found := &Running{Status: stack.Status, Deployment: deployment}
	if deployment != nil {
		found.Record, _ = rollout.Parse(deployment.Annotations)
	}
	return found
}

// KeepsBase reports whether the stack keeps the base configuration in the ConfigMap that the record names, and returns
// the source of this base (decision 0004). The stack keeps the base while the distribution, the version and the image
// remain the same. A newer operator may have a different base for this distribution. `digest` is the digest of the
// image in the pods to create, and is empty if the image reference is used as it is written.
func (r *Running) KeepsBase(
	asked v1alpha2.DistributionSpec, image *Image, digest string,
) (source v1alpha2.ConfigSource, keeps bool) {
	source = v1alpha2.ConfigSource(r.Record.BaseSource)
	switch {
	case r.Record.BaseConfigMap == "" || !r.SameImage(asked, image.Distribution.Image) ||
		r.Record.Distribution.Digest != digest:
		return "", false
	case source == v1alpha2.ConfigSourceEmbedded && image.Distribution.Base != nil:
		return source, true
	case source == v1alpha2.ConfigSourceOCILabel && image.From != v1alpha2.ImageFromCatalogue:
		return source, true
	default:
		return "", false
	}
}

// SameImage reports whether the record is about the same distribution, version and image.
func (r *Running) SameImage(asked v1alpha2.DistributionSpec, image string) bool {
	last := &r.Record.Distribution
	return last.Name == asked.Name && last.Version == asked.Version && last.Image == image
}

// Limited returns the resources whose limits equal their requests in the running pods. The previous operator set these
// limits because the stack has workers. After this operator has rendered the stack, the record contains these
// resources. The parameter container is the name of the server's container.
//
// Limited does not read the quotas in the namespace, because this would require a permission and a watch. Quotas and
// LimitRanges admitted the running pods with these limits, so they also admit new pods with the same limits.
func (r *Running) Limited(container string) []corev1.ResourceName {
	if r.Deployment == nil || r.Record.Template != "" {
		return r.Record.Limited
	}
	containers := r.Deployment.Spec.Template.Spec.Containers
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == container })
	if i < 0 {
		return nil
	}
	var found []corev1.ResourceName
	resources := &containers[i].Resources
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit, ok := resources.Limits[name]
		if requested := resources.Requests[name]; ok && limit.Cmp(requested) == 0 {
			found = append(found, name)
		}
	}
	return found
}

// KeepsGroup reports whether an earlier operator set the fsGroup of the running pods. On OpenShift, such pods need a
// constraint that accepts the fsGroup. After this operator has rendered the template, the record contains the result.
// Until then, the template determines the result.
func (r *Running) KeepsGroup() bool {
	return r.Record.KeepsGroup ||
		r.Deployment != nil && r.Record.Template == "" && render.HasDataGroup(&r.Deployment.Spec.Template.Spec)
}
