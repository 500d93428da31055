package controller

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
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
