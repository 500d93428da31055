package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
)

// pullSources contains the names of the objects from which the kubelet reads credentials for the stack's pods.
type pullSources struct {
	Secrets        []string `json:"secrets,omitempty"`
	ServiceAccount string   `json:"serviceAccount,omitempty"`
}

// credentialsOf encodes the pullSources of a stack for pullCredentials.
func credentialsOf(stack *stack) (string, error) {
	sources := pullSources{ServiceAccount: render.ServiceAccountName(stack)}
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

// pullCredentials reads the pull Secrets of a stack and of its ServiceAccount, by name. It skips missing Secrets.
func (r *Reconciler) pullCredentials(ctx context.Context, target registry.Target) (authn.Keychain, error) {
	var sources pullSources
	if err := json.Unmarshal([]byte(target.Credentials), &sources); err != nil {
		return nil, fmt.Errorf("decode pull Secrets: %w", err)
	}
	// The stack's own ServiceAccount does not exist before the first rollout. Until then, only the spec refers to pull
	// Secrets.
	var account corev1.ServiceAccount
	err := r.direct.Get(ctx, types.NamespacedName{Namespace: target.Stack.Namespace, Name: sources.ServiceAccount},
		&account)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read ServiceAccount %q: %w", sources.ServiceAccount, err)
	}
	for _, secret := range account.ImagePullSecrets {
		if !slices.Contains(sources.Secrets, secret.Name) {
			sources.Secrets = append(sources.Secrets, secret.Name)
		}
	}
	keychain := &registry.Keychain{}
	for _, name := range sources.Secrets {
		if err := r.addPullSecret(ctx, keychain, types.NamespacedName{
			Namespace: target.Stack.Namespace,
			Name:      name,
		}); err != nil {
			return nil, err
		}
	}
	return keychain, nil
}

// addPullSecret adds the credentials in a pull Secret of type kubernetes.io/dockerconfigjson or dockercfg.
func (r *Reconciler) addPullSecret(ctx context.Context, keychain *registry.Keychain, name types.NamespacedName) error {
	var secret corev1.Secret
	if err := r.direct.Get(ctx, name, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("read pull Secret %q: %w", name.Name, err)
	}
	content := secret.Data[corev1.DockerConfigJsonKey]
	if old, ok := secret.Data[corev1.DockerConfigKey]; ok {
		content = slices.Concat([]byte(`{"auths":`), old, []byte(`}`))
	}
	if content == nil {
		return nil
	}
	if err := keychain.Add(content); err != nil {
		return fmt.Errorf("pull Secret %q %w", name.Name, err)
	}
	return nil
}
