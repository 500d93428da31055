package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// labels takes what the image says of itself: its configuration and the server's
// release. The catalogue's images are known and are not read; any other image is
// read once, and what was found stays in force until image, name or version
// changes. A registry that cannot be asked keeps a stack waiting only where there
// is no other base; a running one it never changes.
func (r *Reconciler) labels(ctx context.Context, s *state) error {
	config, _, err := r.config.get(ctx)
	if err != nil {
		return err
	}
	r.pool.Configure(registryOptions(config.Registries))
	known := s.imageFrom == v1alpha2.ImageFromCatalogue
	if !known {
		if known, err = r.recordedLabels(ctx, s); err != nil {
			return err
		}
	}
	if known {
		r.pool.Forget(s.name())
		return nil
	}
	if !config.Registries.ReadLabels {
		return withoutLabels(s)
	}
	target, err := imageTarget(s)
	if err != nil {
		return err
	}
	outcome, ended := r.pool.Read(target)
	switch {
	case !ended:
		return &status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: true,
			Retry: status.OnReferenceChange, Message: fmt.Sprintf("Reading the labels of image %q", s.distribution.Image),
		}
	case outcome.Err != nil:
		return unreadable(s, outcome.Err)
	}
	s.distribution = s.distribution.WithLabel(outcome.Image.Release)
	if wantsLabelledBase(s) && outcome.Image.Config != nil {
		s.labelled, s.digest = outcome.Image.Config, outcome.Image.Digest
	}
	return nil
}

// wantsLabelledBase says that the configuration of the image is what the stack's
// is made from.
func wantsLabelledBase(s *state) bool {
	return plan.NeedsBase(&s.object.Spec) && s.object.Spec.BaseConfig == nil
}

// recordedLabels takes what was found when the image was read for this stack; false
// when it has to be read.
func (r *Reconciler) recordedLabels(ctx context.Context, s *state) (bool, error) {
	asked, in := s.object.Spec.Distribution, s.object.Status.ResolvedDistribution
	if s.deployment == nil || in == nil || in.Name != asked.Name || in.Version != asked.Version ||
		in.Image != s.distribution.Image || in.ServerReleaseFrom == "" {
		return false, nil
	}
	if wantsLabelledBase(s) {
		switch {
		case in.ConfigSource == v1alpha2.ConfigSourceEmbedded && s.distribution.Base != nil:
		case in.ConfigSource == v1alpha2.ConfigSourceOCILabel && s.running.BaseConfigMap != "":
			kept, err := r.configMaps.KeptBase(ctx, s.name(), s.object.UID, s.running.BaseConfigMap)
			if kept == nil || err != nil {
				return false, err
			}
			s.labelled, s.digest = kept, in.Digest
		default:
			return false, nil
		}
	}
	if in.ServerReleaseFrom == releaseFromLabel {
		s.distribution = s.distribution.WithLabel(in.ServerRelease)
	}
	return true, nil
}

// withoutLabels goes on without reading an image, where that is switched off.
func withoutLabels(s *state) error {
	if !wantsLabelledBase(s) || s.distribution.Base != nil {
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigRequired, Retry: status.OnReferenceChange,
		Message: fmt.Sprintf("The configuration of image %q is not known, and the operator does not read images "+
			"(registries.readLabels of its configuration); give a base with spec.baseConfig", s.distribution.Image),
	}
}

// unreadable goes on with what else is known of an image. Without any base the
// stack waits; the image is tried again in the background.
func unreadable(s *state, err error) error {
	if !wantsLabelledBase(s) || s.distribution.Base != nil {
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: registry.Passing(err),
		Retry: status.OnReferenceChange, Err: err,
		Message: fmt.Sprintf("The configuration of the image cannot be read: %v. It is tried again; spec.baseConfig does without it", err),
	}
}

// pin is the image by its digest; the tag stays, for people.
func pin(image, digest string) string {
	if digest == "" || strings.Contains(image, "@") {
		return image
	}
	return image + "@" + digest
}

func registryOptions(registries operatorconfig.Registries) registry.Options {
	return registry.Options{Allow: registries.Allow, Insecure: registries.Insecure, Rewrite: registries.Rewrite}
}

// pullSources are where the kubelet finds credentials for the stack's pods.
type pullSources struct {
	Secrets        []string `json:"secrets,omitempty"`
	ServiceAccount string   `json:"serviceAccount,omitempty"`
}

func imageTarget(s *state) (registry.Target, error) {
	sources := pullSources{}
	if workload := s.object.Spec.Workload; workload != nil && workload.Overrides != nil {
		sources.ServiceAccount = workload.Overrides.ServiceAccountName
		for _, secret := range workload.Overrides.ImagePullSecrets {
			sources.Secrets = append(sources.Secrets, secret.Name)
		}
	}
	credentials, err := json.Marshal(sources)
	if err != nil {
		return registry.Target{}, fmt.Errorf("encode pull Secrets: %w", err)
	}
	return registry.Target{Stack: s.name(), Image: s.distribution.Image, Credentials: string(credentials)}, nil
}

// pullCredentials reads the pull Secrets of a stack and of its ServiceAccount, by
// name. One that does not exist is left out, as the kubelet leaves it out.
func (r *Reconciler) pullCredentials(ctx context.Context, target registry.Target) (authn.Keychain, error) {
	var sources pullSources
	if err := json.Unmarshal([]byte(target.Credentials), &sources); err != nil {
		return nil, fmt.Errorf("decode pull Secrets: %w", err)
	}
	if sources.ServiceAccount != "" {
		var account corev1.ServiceAccount
		err := r.direct.Get(ctx, types.NamespacedName{Namespace: target.Stack.Namespace, Name: sources.ServiceAccount}, &account)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read ServiceAccount %q: %w", sources.ServiceAccount, err)
		}
		for _, secret := range account.ImagePullSecrets {
			if !slices.Contains(sources.Secrets, secret.Name) {
				sources.Secrets = append(sources.Secrets, secret.Name)
			}
		}
	}
	keychain := &registry.Keychain{}
	for _, name := range sources.Secrets {
		var secret corev1.Secret
		err := r.direct.Get(ctx, types.NamespacedName{Namespace: target.Stack.Namespace, Name: name}, &secret)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read pull Secret %q: %w", name, err)
		}
		if content, ok := secret.Data[corev1.DockerConfigJsonKey]; ok {
			if err := keychain.Add(content); err != nil {
				return nil, fmt.Errorf("pull Secret %q %w", name, err)
			}
		}
	}
	return keychain, nil
}
