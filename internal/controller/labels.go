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
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// labels takes what the image says of itself: its configuration and the server's
// release. The catalogue's images are known and are not read; any other image is
// read once, and what was found stays in force until image, name or version
// changes. A registry that cannot be asked keeps a stack waiting only where there
// is no other base; a running one it never changes.
func (r *Reconciler) labels(ctx context.Context, s *state) error {
	config, err := r.configFor(ctx, s)
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
		s.unread = withoutLabels(s)
		return nil
	}
	var image *registry.Image
	if image, s.unread = r.readImage(s); image == nil {
		return nil
	}
	s.distribution, err = s.distribution.WithLabel(image.Release, image.ReleaseLabel == registry.LabelRelease)
	if err != nil {
		return err
	}
	if wantsLabelledBase(s) && image.Config != nil {
		s.labelled, s.digest, s.distribution.Entrypoint = image.Config, image.Digest, image.Entrypoint
	}
	return nil
}

// readImage gives what was read of the stack's image. Without it, the error says
// what the stack waits for; nil: it goes on without.
func (r *Reconciler) readImage(s *state) (*registry.Image, error) {
	target, err := imageTarget(s)
	if err != nil {
		return nil, err
	}
	outcome, ended := r.pool.Read(target)
	switch {
	case !ended:
		return nil, &status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: true,
			Retry: status.OnReferenceChange, Message: fmt.Sprintf("Reading the labels of image %q", s.distribution.Image),
		}
	case outcome.Err != nil:
		return nil, unreadable(s, outcome.Err)
	default:
		return outcome.Image, nil
	}
}

// wantsLabelledBase says that the configuration of the image is what the stack's
// is made from.
func wantsLabelledBase(s *state) bool {
	return plan.NeedsBase(&s.object.Spec) && s.object.Spec.BaseConfig == nil
}

// recordedLabels takes what was found when the image was read for this stack; false
// when it has to be read.
func (r *Reconciler) recordedLabels(ctx context.Context, s *state) (bool, error) {
	asked, found := s.object.Spec.Distribution, s.running.Distribution
	if found.Image != s.distribution.Image || found.Name != asked.Name || found.Version != asked.Version {
		return false, nil
	}
	if wantsLabelledBase(s) {
		switch v1alpha2.ConfigSource(s.running.BaseSource) {
		case v1alpha2.ConfigSourceEmbedded:
			if s.distribution.Base == nil {
				return false, nil
			}
		case v1alpha2.ConfigSourceOCILabel:
			kept, err := r.configMaps.KeptBase(ctx, s.name(), s.object.UID, s.running.BaseConfigMap)
			if kept == nil || err != nil {
				return false, err
			}
			s.labelled, s.digest, s.distribution.Entrypoint = kept, found.Digest, plan.RecordedEntrypoint(found)
		default:
			return false, nil
		}
	}
	if found.Label == "" {
		return true, nil
	}
	var err error
	s.distribution, err = s.distribution.WithLabel(found.Label, true)
	return true, err
}

// withoutLabels goes on without reading an image, where that is switched off.
func withoutLabels(s *state) error {
	readBefore := s.running.BaseSource == string(v1alpha2.ConfigSourceOCILabel)
	if !wantsLabelledBase(s) || s.distribution.Base != nil && !readBefore {
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigRequired, Retry: status.OnReferenceChange,
		Message: fmt.Sprintf("The configuration of image %q is not known, and the operator does not read images "+
			"(registries.readLabels of its configuration); give a base with spec.baseConfig", s.distribution.Image),
	}
}

// unreadable goes on with what else is known of an image, but never changes what
// runs by a configuration that was read. Without any base the stack waits; the
// image is tried again in the background.
func unreadable(s *state, err error) error {
	readBefore := s.running.BaseSource == string(v1alpha2.ConfigSourceOCILabel)
	switch {
	case !wantsLabelledBase(s):
		return nil
	case s.distribution.Base != nil && !readBefore:
		s.events = append(s.events, warn(v1alpha2.EventImageLabelsUnreadable, ownCopyUsed(s, err)))
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: registry.Transient(err),
		Retry: status.OnReferenceChange, Err: err,
		Message: fmt.Sprintf("The configuration of the image cannot be read: %s. It is tried again; spec.baseConfig does without it", truncate(err.Error())),
	}
}

// maxCause leaves room for the remedy behind what a registry answers.
const maxCause = 400

// ownCopyUsed says that the operator's copy of a distribution's configuration is
// used for an image that may hold another one. It is told once: the base is
// recorded with the roll-out that follows.
func ownCopyUsed(s *state, err error) string {
	return fmt.Sprintf("The labels of image %q cannot be read: %s; its configuration is taken to be that of %q in release %s, until image, name or version changes. "+
		"Give a pull Secret in spec.workload.overrides.imagePullSecrets, or mend registries in the operator's configuration, for it to be read then; spec.baseConfig does without it",
		s.distribution.Image, status.Shorten(err.Error(), maxCause), s.distribution.Name, s.distribution.Release.Line)
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
	sources := pullSources{ServiceAccount: render.ServiceAccountName(s.object)}
	if workload := s.object.Spec.Workload; workload != nil && workload.Overrides != nil {
		for _, secret := range workload.Overrides.ImagePullSecrets {
			sources.Secrets = append(sources.Secrets, secret.Name)
		}
	}
	credentials, err := json.Marshal(sources)
	if err != nil {
		return registry.Target{}, fmt.Errorf("encode pull Secrets: %w", err)
	}
	image, found := s.distribution.Image, s.running.Distribution
	if found.Digest != "" && found.Image == image && !strings.Contains(image, "@") {
		image += "@" + found.Digest // the base that was kept is lost: the same one is read again
	}
	return registry.Target{Stack: s.name(), Image: image, Credentials: string(credentials)}, nil
}

// pullCredentials reads the pull Secrets of a stack and of its ServiceAccount, by
// name. One that does not exist is left out, as the kubelet leaves it out.
func (r *Reconciler) pullCredentials(ctx context.Context, target registry.Target) (authn.Keychain, error) {
	var sources pullSources
	if err := json.Unmarshal([]byte(target.Credentials), &sources); err != nil {
		return nil, fmt.Errorf("decode pull Secrets: %w", err)
	}
	// The stack's own account is there only after its first roll-out: until then its
	// pods have nothing but what the spec names.
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
	keychain := &registry.Keychain{}
	for _, name := range sources.Secrets {
		if err := r.addPullSecret(ctx, keychain, types.NamespacedName{Namespace: target.Stack.Namespace, Name: name}); err != nil {
			return nil, err
		}
	}
	return keychain, nil
}

// addPullSecret adds what a pull Secret holds, in either of its two forms.
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
