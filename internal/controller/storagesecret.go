package controller

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
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

// chooseStorageSecret returns the name and digest of the Secret with connection parts. Changed parts are stored in a
// Secret with a different name, because pods of the running revision and of older revisions must read the parts that
// they started with, even after a restart. Parts whose digest is in a record remain in the recorded Secret. Nil means
// that there are no parts.
func chooseStorageSecret(f planFacts, derived map[string][]byte) *rollout.StorageSecret {
	if len(derived) == 0 {
		return nil
	}
	digest, key := f.secrets.digestKey.Digest(derived), f.secrets.references.Key
	if was := f.workload.running.StorageSecret; was != nil && f.workload.running.ReferenceKey != key {
		return &rollout.StorageSecret{Name: was.Name, Digest: digest} // the key was deleted, so a change cannot be detected
	}
	recorded := recordedStorageSecrets(f.workload, key)
	for _, was := range recorded {
		if was.Digest == digest {
			return was
		}
	}
	if len(recorded) == 0 {
		return &rollout.StorageSecret{Name: names.StorageSecret(f.stack.Name), Digest: digest}
	}
	return &rollout.StorageSecret{Name: names.NextStorageSecret(f.stack.Name, digest), Digest: digest}
}

// recordedStorageSecrets returns the Secrets in those records of the Deployment and its ReplicaSets that contain the
// given digest key.
func recordedStorageSecrets(workload *workload, key string) []*rollout.StorageSecret {
	var found []*rollout.StorageSecret
	add := func(r *rollout.Record) {
		if r.StorageSecret != nil && r.ReferenceKey == key {
			found = append(found, r.StorageSecret)
		}
	}
	add(&workload.running)
	for i := range workload.replicaSets {
		if set := &workload.replicaSets[i]; workload.deployment != nil && metav1.IsControlledBy(set, workload.deployment) {
			past, _ := rollout.Parse(set.Annotations)
			add(&past)
		}
	}
	return found
}
