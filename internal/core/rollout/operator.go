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
		was.Image == wanted.Image && was.Base == wanted.Base && was.Distribution == wanted.Distribution &&
		o.sameReferences(was)
	if !same || was.ConfigHash == "" || was.ConfigHash == wanted.ConfigHash {
		return false
	}
	inputs := o.rendered.Inputs
	inputs.ConfigHash, inputs.ConfigMap = was.ConfigHash, was.configMap(o.live.Name)
	digest, err := Digest(inputs, References{})
	recorded, _ := splitDigest(was.Inputs)
	return err == nil && digest == recorded
}

// configMap returns the name of the ConfigMap with the recorded configuration of a stack.
func (r *Record) configMap(stack string) string {
	if r.BaseConfigMap == "" {
		return names.ConfigMap(stack, r.ConfigHash)
	}
	return ConfigMapName(stack, r.ConfigHash, r.Base)
}

// ConfigMapName returns the name of the ConfigMap with a stack's configuration whose base the operator keeps. Its other
// parameters are the hashes of the configuration and of the base. Both can be in this ConfigMap, which is immutable.
func ConfigMapName(stack, config, base string) string {
	return names.ConfigMap(stack, hash([]byte(config+base)))
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
