package resolve

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// Derive computes the values of the Secret with connection parts from the values of other Secrets. Connection parts are
// the parts of a PostgreSQL connection string, such as its host and user, and URL-encoded values (secretvalue.Part).
func (v Values) Derive(namespace string, entries []secretvalue.Derived) (map[string][]byte, error) {
	derived := make(map[string][]byte, len(entries))
	for _, entry := range entries {
		value, _ := v.Get(entry.Secret, entry.SecretKey)
		part, err := entry.Derive(string(value))
		if err != nil {
			return nil, &status.Failure{
				Condition: v1alpha2.ConditionSecretsResolved, Reason: v1alpha2.ReasonSecretValueUnusable,
				Message: fmt.Sprintf("Key %q of Secret %q in namespace %q cannot be used: %v. Referenced by: %s",
					entry.SecretKey, entry.Secret, namespace, err, entry.FieldPath),
				Retry: status.OnReferenceChange,
			}
		}
		derived[entry.Key] = []byte(part)
	}
	return derived, nil
}
