package controller

import (
	"context"
	"errors"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// admit validates the spec again: an object may have been stored before a rule
// existed, or past the policy that holds it.
func (r *Reconciler) admit(_ context.Context, s *state) error {
	_, errs := validate.Spec(s.object)
	if len(errs) > 0 {
		return invalid(v1alpha2.ReasonInvalidSpec, intent.Messages(errs))
	}
	s.intent, errs = intent.FromObject(s.object)
	if len(errs) > 0 {
		return invalid(v1alpha2.ReasonInvalidSpec, intent.Messages(errs))
	}
	if fields := validate.Unsupported(s.object); len(fields) > 0 {
		message := "Without effect in this release of the operator: " + strings.Join(fields, ", ")
		s.holds(v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValidWithUnsupportedFields, message)
		return nil
	}
	s.holds(v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid, "The spec is valid")
	return nil
}

func invalid(reason, message string) error {
	return &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: reason, Message: message, Retry: status.OnObjectChange,
	}
}

// image finds the server's image and release. A stack that runs keeps the image
// it was made with for as long as it asks for the same name and version: an
// operator upgrade never changes the server of a running stack. An override
// replaces it while it is set.
func (r *Reconciler) image(ctx context.Context, s *state) error {
	asked := s.object.Spec.Distribution
	images, err := r.images(ctx, s)
	if err != nil {
		return err
	}
	current, err := distribution.Resolve(asked.Name, asked.Image, asked.Version, nil)
	recorded, wasRecorded := r.recordedImage(s)
	overrides := maps.Clone(images.all)
	s.imageFrom = v1alpha2.ImageFromCatalogue
	switch {
	case asked.Name == "":
		s.imageFrom = v1alpha2.ImageFromSpec
	case wasRecorded:
		s.catalogueImage = recorded
		if err != nil || current.Image != recorded {
			overrides[asked.Name] = recorded
			s.newerImage = current.Image
		}
	default:
		if release, ok := r.releaseOfClaim(ctx, s); ok && asked.Version == "" {
			if older, olderErr := distribution.Resolve(asked.Name, "", release, nil); olderErr == nil && older.Image != current.Image {
				current, err = older, nil
				overrides[asked.Name] = older.Image
			}
		}
		s.catalogueImage = current.Image
	}
	if image, from, ok := images.override(s); ok {
		overrides[asked.Name], s.imageFrom = image, from
	}
	if len(overrides) > 0 {
		current, err = distribution.Resolve(asked.Name, asked.Image, asked.Version, overrides)
	}
	if err != nil {
		return unknownDistribution(err)
	}
	s.distribution = current
	return nil
}

func unknownDistribution(err error) error {
	reason := v1alpha2.ReasonInvalidSpec
	if _, ok := errors.AsType[*distribution.UnknownError](err); ok {
		reason = v1alpha2.ReasonUnknownDistribution
	}
	return invalid(reason, distribution.Path(err)+": "+err.Error())
}

// recordedImage is the catalogue's image that was chosen for this name and
// version when the stack was made: from the status, else from the Deployment.
func (r *Reconciler) recordedImage(s *state) (string, bool) {
	asked := s.object.Spec.Distribution
	matches := func(known rollout.Distribution) bool {
		return known.CatalogueImage != "" && known.Name == asked.Name && known.Version == asked.Version
	}
	if in := s.object.Status.ResolvedDistribution; in != nil {
		known := rollout.Distribution{Name: in.Name, Version: in.Version, CatalogueImage: in.CatalogueImage}
		if matches(known) {
			return known.CatalogueImage, true
		}
	}
	if matches(s.running.Distribution) {
		return s.running.Distribution.CatalogueImage, true
	}
	return "", false
}

// releaseOfClaim is the server release that wrote the data on the stack's claim,
// for a stack that comes back to it without any record.
func (r *Reconciler) releaseOfClaim(ctx context.Context, s *state) (string, bool) {
	var claim corev1.PersistentVolumeClaim
	if err := r.cache.Get(ctx, s.child(names.PersistentVolumeClaim(s.object.Name)), &claim); err != nil {
		return "", false
	}
	release := claim.Annotations[names.AnnotationRelease]
	return release, release != "" && claim.Labels[names.LabelInstance] == s.object.Name
}
