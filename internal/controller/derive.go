package controller

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// derive computes the values of the Secret with connection parts from the
// Secrets that were read.
func derive(s *state) error {
	s.derived = make(map[string][]byte, len(s.planned.Derived))
	for _, entry := range s.planned.Derived {
		value, _ := s.secrets.Get(entry.Secret, entry.SecretKey)
		part, err := stackconfig.Derive(entry.Part, string(value))
		if err != nil {
			return &status.Failure{
				Condition: v1alpha2.ConditionSecretsResolved, Reason: v1alpha2.ReasonSecretValueUnusable,
				Message: fmt.Sprintf("Key %q of Secret %q in namespace %q cannot be used: %v. Referenced by: %s",
					entry.SecretKey, entry.Secret, s.object.Namespace, err, entry.FieldPath),
				Retry: status.OnReferenceChange,
			}
		}
		s.derived[entry.Key] = []byte(part)
	}
	return nil
}

// chooseStorageSecret names the Secret with connection parts. Parts that changed get
// another name: a pod that runs, or that is rolled back to, reads those that it started
// with, also when it restarts. Parts that a record knows keep their name. Nil: there are
// no parts.
func (s *state) chooseStorageSecret() *rollout.StorageSecret {
	if len(s.derived) == 0 {
		return nil
	}
	digest := s.digestKey.Digest(s.derived)
	if was := s.running.StorageSecret; was != nil && s.running.ReferenceKey != s.references.Key {
		return &rollout.StorageSecret{Name: was.Name, Digest: digest} // the key was lost: nobody knows of a change
	}
	recorded := s.recordedStorageSecrets()
	for _, was := range recorded {
		if was.Digest == digest {
			return was
		}
	}
	if len(recorded) == 0 {
		return &rollout.StorageSecret{Name: names.StorageSecret(s.object.Name), Digest: digest}
	}
	return &rollout.StorageSecret{Name: names.NextStorageSecret(s.object.Name, digest), Digest: digest}
}

// recordedStorageSecrets are those of the Deployment and of its ReplicaSets, as far as
// their digests can be compared.
func (s *state) recordedStorageSecrets() []*rollout.StorageSecret {
	var found []*rollout.StorageSecret
	add := func(r rollout.Record) {
		if r.StorageSecret != nil && r.ReferenceKey == s.references.Key {
			found = append(found, r.StorageSecret)
		}
	}
	add(s.running)
	for i := range s.replicaSets {
		if set := &s.replicaSets[i]; s.deployment != nil && metav1.IsControlledBy(set, s.deployment) {
			past, _ := rollout.Parse(set.Annotations)
			add(past)
		}
	}
	return found
}
