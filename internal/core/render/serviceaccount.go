package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// serviceAccount returns the ServiceAccount of the pods, unless the user names one. The server sends no requests to the
// API server, so no token is mounted, except for a v1alpha1 stack, whose providers can use the token.
func serviceAccount(in Input) (*corev1ac.ServiceAccountApplyConfiguration, error) {
	if intent.Overrides(&in.Stack.Spec).ServiceAccountName != "" {
		return nil, nil
	}
	account := owned(in, corev1ac.ServiceAccount, names.ServiceAccount(in.Stack.Name))
	if !of(in).MountsToken {
		account.WithAutomountServiceAccountToken(false)
	}
	return account, nil
}
