package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
)

func (s *state) child(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.object.Namespace, Name: name}
}

// lookAtWorkload reads what runs from the caches.
func (r *Reconciler) lookAtWorkload(ctx context.Context, s *state) error {
	var deployment appsv1.Deployment
	err := r.cache.Get(ctx, s.child(names.Deployment(s.object.Name)), &deployment)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read cached Deployment: %w", err)
	}
	if err == nil && (metav1.IsControlledBy(&deployment, s.object) || s.owner().Adopts(&deployment)) {
		s.deployment = &deployment
		s.running, _ = rollout.Parse(deployment.Annotations)
	}
	var sets appsv1.ReplicaSetList
	selector := client.MatchingLabels(names.Selector(s.object.Name))
	if err := r.cache.List(ctx, &sets, client.InNamespace(s.object.Namespace), selector); err != nil {
		return fmt.Errorf("list cached ReplicaSets: %w", err)
	}
	s.replicaSets = sets.Items
	return nil
}

// readConfigMaps reads what the spec refers to. The references are noted before
// anything is read: whatever changes after that wakes this object.
func (r *Reconciler) readConfigMaps(ctx context.Context, s *state) error {
	configMaps := slices.Concat(intent.ConfigMaps(s.object), intent.TrustedCA(s.object))
	secrets, errs := intent.Secrets(s.intent)
	r.references.set(s.name(), secrets, configMaps)
	if len(errs) > 0 {
		return invalid(v1alpha2.ReasonInvalidSpec, intent.Messages(errs))
	}
	var err error
	s.configMaps, err = r.configMaps.Get(ctx, s.name(), configMaps)
	if err != nil {
		return err
	}
	return readCABundle(s, configMaps)
}

// readSecrets checks the referenced Secrets and digests their values, so that a
// change of one rolls the pods.
func (r *Reconciler) readSecrets(ctx context.Context, s *state) error {
	uses, _ := intent.Secrets(s.intent)
	if len(uses) == 0 {
		s.holds(v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonNoSecretsReferenced, "The spec refers to no Secret")
		return nil
	}
	values, err := resolve.Secrets(ctx, r.direct, resolve.SecretQuery{
		Namespace: s.object.Namespace, Cache: r.cache, Uses: uses, Text: stackconfig.WantsText(s.intent, s.distribution.Release), Now: r.now(),
	})
	if err != nil {
		return err
	}
	key, err := r.digestKeys.Get(ctx)
	if err != nil {
		return err
	}
	s.secrets = values
	own := key.For(s.object.Namespace)
	s.digestKey = own
	s.references = rollout.References{
		Digest: values.Digest(own), Key: own.ID, EarlierDigest: values.Digest(key), EarlierKey: key.ID,
	}
	s.holds(v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonAllSecretsFound,
		"Resolved "+count(references(uses), "secret reference")+r.expiring(s))
	return nil
}

// references counts the fields that name a Secret: that of a certificate means two
// of its keys.
func references(uses []intent.SecretUse) int {
	paths := map[string]bool{}
	for _, use := range uses {
		paths[use.Path] = true
	}
	return len(paths)
}

// base finds the base configuration: the user's, else that of the image's labels,
// else the one that the running configuration was made from, else the catalogue's. None is left to plan, which
// knows whether one is needed.
func (r *Reconciler) base(ctx context.Context, s *state) error {
	if s.unread != nil {
		return s.unread
	}
	if !plan.NeedsBase(&s.object.Spec) {
		return nil
	}
	if given := s.object.Spec.BaseConfig; given != nil {
		s.baseConfig = &plan.Base{Data: s.configMaps[given.ConfigMapName][baseKey(given)], Source: v1alpha2.ConfigSourceConfigMap}
		return nil
	}
	if s.labelled != nil {
		s.baseConfig = &plan.Base{Data: s.labelled, Source: v1alpha2.ConfigSourceOCILabel}
		return nil
	}
	if s.distribution.Base == nil {
		return nil
	}
	s.baseConfig = &plan.Base{Data: s.distribution.Base, Source: v1alpha2.ConfigSourceEmbedded}
	if !r.keepsBase(s) || s.running.BaseConfigMap == plan.BaseConfigMapName(s.object.Name, s.distribution.Base) {
		return nil // the name tells the content
	}
	kept, err := r.configMaps.KeptBase(ctx, s.name(), s.object.UID, s.running.BaseConfigMap)
	if err != nil {
		return err
	}
	if kept != nil {
		s.baseConfig.Data = kept
	}
	return nil
}

// baseKey is the key of a ConfigMap that holds a base configuration.
func baseKey(given *v1alpha2.BaseConfigSource) string {
	return cmp.Or(given.Key, v1alpha2.DefaultConfigKey)
}

// keepsBase says whether the running configuration was made from the same
// distribution's embedded base, which a newer operator may have another of.
func (r *Reconciler) keepsBase(s *state) bool {
	asked := s.object.Spec.Distribution
	return s.running.BaseConfigMap != "" && s.running.BaseSource == string(v1alpha2.ConfigSourceEmbedded) &&
		s.running.Distribution.Name == asked.Name && s.running.Distribution.Version == asked.Version &&
		s.running.Image == s.distribution.Image
}

// pods of the stack, from the cache.
func (r *Reconciler) pods(ctx context.Context, s *state) ([]corev1.Pod, error) {
	var pods corev1.PodList
	selector := client.MatchingLabels(names.Selector(s.object.Name))
	if err := r.cache.List(ctx, &pods, client.InNamespace(s.object.Namespace), selector); err != nil {
		return nil, fmt.Errorf("list cached pods: %w", err)
	}
	return pods.Items, nil
}

// count writes a number with its noun: 1 provider, 2 providers.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
