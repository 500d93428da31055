package facts

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// Running contains what is known of a running stack. The zero value stands for a stack that does not run.
type Running struct {
	// Status is the status of the stack.
	Status v1alpha2.LlamaStackDistributionStatus
	// Record is the operator's record on the Deployment. It is empty if there is no Deployment, if another program
	// rendered the pods, or if the Deployment was not read.
	Record rollout.Record
	// VolumeRelease returns the server release that wrote the data on the stack's volume, or an empty string. It is called
	// only for a stack without a record. Nil means that the volume was not read.
	VolumeRelease func() string
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
