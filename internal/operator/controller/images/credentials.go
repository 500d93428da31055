package images

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// pullSources contains the names of the objects from which the kubelet reads credentials for the stack's pods.
type pullSources struct {
	// Stack is the UID of the stack. A new stack with the name of a deleted one, whose author can be another user, does
	// not use the content that was read for the deleted one.
	Stack          types.UID `json:"stack,omitempty"`
	Secrets        []string  `json:"secrets,omitempty"`
	ServiceAccount string    `json:"serviceAccount,omitempty"`
}

// credentialsOf encodes the pullSources of a stack for pullCredentials.
func credentialsOf(stack *stack) (string, error) {
	sources := pullSources{Stack: stack.UID, ServiceAccount: render.ServiceAccountName(stack)}
	if workload := stack.Spec.Workload; workload != nil && workload.Overrides != nil {
		for _, secret := range workload.Overrides.ImagePullSecrets {
			sources.Secrets = append(sources.Secrets, secret.Name)
		}
	}
	credentials, err := json.Marshal(sources)
	if err != nil {
		return "", fmt.Errorf("encode pull Secrets: %w", err)
	}
	return string(credentials), nil
}

// maxPullSecrets is the maximum number of pull Secrets of a stack, like that of the other Secrets of a stack.
const maxPullSecrets = 256

// pullCredentials reads the pull Secrets of a stack and of its ServiceAccount, one after the other and by name. It
// keeps only the credentials for the given repositories. It skips missing Secrets.
func (r *Reader) pullCredentials(
	ctx context.Context, target registry.Target, repositories []string,
) (authn.Keychain, error) {
	var sources pullSources
	if err := json.Unmarshal([]byte(target.Credentials), &sources); err != nil {
		return nil, fmt.Errorf("decode pull Secrets: %w", err)
	}
	names, err := r.pullSecrets(ctx, target.Stack.Namespace, sources)
	if err != nil {
		return nil, err
	}
	keychain, budget := &registry.Keychain{Repositories: repositories}, resolve.Budget{}
	for _, name := range names {
		key := types.NamespacedName{Namespace: target.Stack.Namespace, Name: name}
		if err := r.addPullSecret(ctx, keychain, key, &budget); err != nil {
			return nil, err
		}
	}
	return keychain, nil
}

// pullSecrets returns the names of the pull Secrets of a stack and of its ServiceAccount.
func (r *Reader) pullSecrets(ctx context.Context, namespace string, sources pullSources) ([]string, error) {
	// The stack's own ServiceAccount does not exist before the first rollout. Until then, only the spec refers to pull
	// Secrets.
	var account corev1.ServiceAccount
	err := r.direct.Get(ctx, types.NamespacedName{Namespace: namespace, Name: sources.ServiceAccount}, &account)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read ServiceAccount %q: %w", sources.ServiceAccount, err)
	}
	all, seen := make([]string, 0, len(sources.Secrets)), map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	for _, name := range sources.Secrets {
		add(name)
	}
	for _, secret := range account.ImagePullSecrets {
		add(secret.Name)
	}
	if count := len(all); count > maxPullSecrets {
		return nil, fmt.Errorf("the stack and ServiceAccount %q name %d pull Secrets, but the operator reads at most %d to read an image; "+
			"combine the credentials in fewer Secrets", sources.ServiceAccount, count, maxPullSecrets)
	}
	return all, nil
}

// addPullSecret adds the credentials in a pull Secret of type kubernetes.io/dockerconfigjson or dockercfg.
func (r *Reader) addPullSecret(
	ctx context.Context, keychain *registry.Keychain, name types.NamespacedName, budget *resolve.Budget,
) error {
	var secret corev1.Secret
	if err := r.direct.Get(ctx, name, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("read pull Secret %q: %w", name.Name, err)
	}
	content, add := secret.Data[corev1.DockerConfigJsonKey], keychain.Add
	if older, ok := secret.Data[corev1.DockerConfigKey]; ok {
		content, add = older, keychain.AddOlder
	}
	if content == nil {
		return nil
	}
	if !budget.Take(len(content)) {
		return fmt.Errorf("pull Secret %q exceeds the limit of %d bytes for all pull Secrets of a stack; remove pull Secrets",
			name.Name, resolve.MaxBytes)
	}
	if err := add(content); err != nil {
		return fmt.Errorf("pull Secret %q %w", name.Name, err)
	}
	return nil
}
