package controller

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// storageSecret returns the name and digest of the Secret with connection parts. The name depends on the parts, because
// pods of the running revision and of older revisions must read the parts that they started with, even after a restart.
// If the digest key was deleted, a change cannot be detected, and the pods keep the recorded Secret. Nil means that
// there are no parts.
func storageSecret(in *plan.Input, key resolve.DigestKey, derived map[string][]byte) *rollout.StorageSecret {
	if len(derived) == 0 {
		return nil
	}
	digest, running := key.Digest(derived), &in.Running.Record
	name := names.StorageSecretOf(in.Object.Name, digest)
	if was := running.StorageSecret; was != nil &&
		(running.ReferenceKey != in.References.Key || was.Digest == digest) {
		name = was.Name
	}
	return &rollout.StorageSecret{Name: name, Digest: digest}
}
