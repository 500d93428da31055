package facts

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
)

// Unusable is the reason, and a sentence without the value, for a reference to a Secret that cannot be used.
type Unusable struct{ Reason, Sentence string }

// CheckSecret returns the problem with the value that a reference leads to, or nil. A nil Secret does not exist. The
// parameter text reports whether the server expects text, rather than a number. A certificate that expired before `now`
// cannot be used.
func CheckSecret(use intent.SecretUse, namespace string, secret *corev1.Secret, text bool, now time.Time) *Unusable {
	if secret == nil {
		return &Unusable{
			v1alpha2.ReasonSecretNotFound, fmt.Sprintf("Secret %q not found in namespace %q", use.Secret, namespace),
		}
	}
	value, ok := secret.Data[use.Key]
	if !ok {
		return &Unusable{
			v1alpha2.ReasonSecretKeyMissing,
			fmt.Sprintf("Key %q not found in Secret %q in namespace %q", use.Key, use.Secret, namespace),
		}
	}
	subject := fmt.Sprintf("Key %q of Secret %q in namespace %q", use.Key, use.Secret, namespace)
	var err error
	if len(value) > 0 && use.Purpose == intent.PurposeCertificate {
		subject, err = fmt.Sprintf("Secret %q in namespace %q", use.Secret, namespace), cabundle.CheckSecret(secret, now)
	} else {
		err = secretvalue.Environment(use.EnvVar, value, text)
	}
	if err != nil {
		return &Unusable{v1alpha2.ReasonSecretValueUnusable, subject + " " + err.Error()}
	}
	return nil
}
