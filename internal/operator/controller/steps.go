package controller

import (
	"context"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
)

// step is one step of a reconcile, in the file step_<name>.go or in a package below this one. The field `condition` is
// the type of the condition for failures that specify none.
type step struct {
	name      string
	condition string
	run       func(context.Context, *Reconciler, *state) error
}

// steps lists the steps in order. The operator does not write any object of the stack before the ownership step
// (docs/development/architecture.md). Each entry shows the inputs and the results of its step.
var steps = []step{
	{"admit", v1alpha2.ConditionValidationSucceeded, func(_ context.Context, _ *Reconciler, s *state) (err error) {
		s.intent, s.warnings, err = planning.Admit(s.stack, &s.report)
		return err
	}},
	{"image", v1alpha2.ConditionValidationSucceeded, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.image, err = r.planner.Image(ctx, s.stack, &s.workload)
		return err
	}},
	{"bounds", v1alpha2.ConditionValidationSucceeded, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.bounds, err = r.planner.Bounds(ctx, s.stack, &s.image)
		return err
	}},
	{"image_labels", v1alpha2.ConditionConfigGenerated, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.labels, err = r.images.Labels(ctx, s.stack, &s.image, &s.workload, &s.report)
		return err
	}},
	{"configmaps", v1alpha2.ConditionValidationSucceeded, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.configMaps, err = r.planner.ReadConfigMaps(ctx, s.stack, s.intent, &s.workload, &s.budget)
		return err
	}},
	{"secrets", v1alpha2.ConditionSecretsResolved, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.secrets, err = r.planner.ReadSecrets(ctx, s.stack, s.intent, &s.labels.Distribution, &s.budget, &s.report)
		return err
	}},
	{"base", v1alpha2.ConditionConfigGenerated, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.base, err = r.planner.Base(ctx, s.stack, &s.image, &s.labels, s.configMaps.Contents, &s.workload)
		return err
	}},
	{"external_images", v1alpha2.ConditionConfigGenerated, func(_ context.Context, r *Reconciler, s *state) (err error) {
		s.external, err = r.images.External(s.stack, s.intent, &s.image, &s.workload, &s.report)
		return err
	}},
	{"plan", v1alpha2.ConditionConfigGenerated, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.planned, err = r.planner.Plan(ctx, s.known(), &s.image, &s.secrets, s.warnings, &s.report)
		return err
	}},
	{"paused", v1alpha2.ConditionDeploymentUpdated, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.owned.decision, err = r.paused(ctx, s.stack, &s.workload, s.planned.Plan, &s.report)
		return err
	}},
	{"ownership", v1alpha2.ConditionDeploymentUpdated, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.owned, err = r.checkOwnership(ctx, s.stack, &s.workload, &s.planned)
		return err
	}},
	{"retention", v1alpha2.ConditionDeploymentUpdated, func(_ context.Context, r *Reconciler, s *state) (err error) {
		s.leaves, err = r.retention(s.stack, s.planned.Plan, s.owned.decision)
		return err
	}},
	{"preflight", v1alpha2.ConditionDeploymentUpdated, func(ctx context.Context, r *Reconciler, s *state) error {
		return r.preflight(ctx, s.stack, &s.workload, &s.planned, &s.owned, &s.report)
	}},
	{"apply", v1alpha2.ConditionDeploymentUpdated, func(ctx context.Context, r *Reconciler, s *state) (err error) {
		s.applied, err = r.apply(ctx, s.stack, &s.workload, &s.image, &s.owned, &s.report)
		return err
	}},
	{"prune", v1alpha2.ConditionDeploymentUpdated, func(ctx context.Context, r *Reconciler, s *state) error {
		keepsExposure := s.planned.Input.Cluster.ExposureUnknown || s.applied.rejectedExposure()
		made := s.planned.Plan
		return r.prune(ctx, s.stack, s.live(), &s.owned, keepsExposure, made.PodsServeTLS() && !made.ServesTLS)
	}},
	{"rejections", v1alpha2.ConditionDeploymentUpdated, func(_ context.Context, _ *Reconciler, s *state) error {
		return reportRejections(s.applied.rejections)
	}},
	{"exposure", v1alpha2.ConditionExposed, func(_ context.Context, _ *Reconciler, s *state) error {
		return checkExposure(s.stack, &s.planned, s.applied.objects, &s.report)
	}},
	{"volume", v1alpha2.ConditionStorageReady, func(_ context.Context, _ *Reconciler, s *state) error {
		return checkVolume(s.owned.volumeTrouble)
	}},
}
