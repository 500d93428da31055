package controller

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// derive computes the values of the Secret with connection parts from the values of other Secrets. Connection parts are
// the parts of a PostgreSQL connection string, such as its host and user, and URL-encoded values (secretvalue.Part).
func derive(stack *stack, entries []secretvalue.Derived, secrets resolve.Values) (map[string][]byte, error) {
	derived := make(map[string][]byte, len(entries))
	for _, entry := range entries {
		value, _ := secrets.Get(entry.Secret, entry.SecretKey)
		part, err := entry.Derive(string(value))
		if err != nil {
			return nil, &status.Failure{
				Condition: v1alpha2.ConditionSecretsResolved, Reason: v1alpha2.ReasonSecretValueUnusable,
				Message: fmt.Sprintf("Key %q of Secret %q in namespace %q cannot be used: %v. Referenced by: %s",
					entry.SecretKey, entry.Secret, stack.Namespace, err, entry.FieldPath),
				Retry: status.OnReferenceChange,
			}
		}
		derived[entry.Key] = []byte(part)
	}
	return derived, nil
}

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
