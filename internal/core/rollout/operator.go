package rollout

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// onlyOperator reports whether another version of the operator generates a different configuration for the same stack,
// and nothing else changed: the spec, the image and the base of the stack, and the data of its references are the same.
// Such a configuration restarts no pod. The next change by a user also rolls out this configuration.
func (o observed) onlyOperator() bool {
	was, wanted := o.record, o.rendered.Record
	same := was.UID == wanted.UID && was.Generation == wanted.Generation &&
		was.OperatorVersion != wanted.OperatorVersion &&
		was.Image == wanted.Image && was.BaseConfigMap == wanted.BaseConfigMap && was.Distribution == wanted.Distribution &&
		o.sameReferences(was)
	if !same || was.ConfigHash == "" || was.ConfigHash == wanted.ConfigHash {
		return false
	}
	inputs := o.rendered.Inputs
	inputs.ConfigHash, inputs.ConfigMap = was.ConfigHash, names.ConfigMap(o.live.Name, was.ConfigHash)
	digest, err := Digest(inputs, References{})
	recorded, _ := splitDigest(was.Inputs)
	return err == nil && digest == recorded
}

// pinned reports whether the image differs only because the operator has detected the running release, in a stack whose
// pods another program created. No user has requested pods with this image.
func (o observed) pinned() bool {
	was, wanted := o.record, o.rendered.Record
	then, now := was.Distribution, wanted.Distribution
	return was.Template == "" && was.UID == wanted.UID && was.Generation == wanted.Generation && o.sameReferences(was) &&
		then.Name == now.Name && then.Version == now.Version && then.CatalogueImage != now.CatalogueImage &&
		then.Image == then.CatalogueImage && now.Image == now.CatalogueImage
}
