package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/metrics"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/observe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// finish runs after the steps, whether or not they succeed. It observes the workload, and writes the status if the
// status has changed. After a quiet failure, it writes nothing, because another attempt follows soon.
func (r *Reconciler) finish(ctx context.Context, s *state, failure *status.Failure) error {
	if failure != nil && failure.Retry == status.Quiet {
		return nil
	}
	previous := s.stack.DeepCopy()
	// Conditions that only an operator for v1alpha1 wrote do not cause a write. The next write removes them.
	previous.Status.Conditions = status.Known(previous.Status.Conditions)
	observed, err := r.observe(ctx, s, failure)
	if err != nil {
		return err
	}
	failure = s.report.InItsWords(s.stack, failure)
	now := &s.stack.Status
	summary := status.Summarize(status.Input{
		Generation: s.stack.Generation, Previous: previous.Status.Conditions, Observed: s.report.Conditions, Failure: failure,
		Overdue: observed.Overdue, Serving: observed.Serving, Earlier: observed.Earlier,
		Deleting: s.stack.DeletionTimestamp != nil, Now: report.Timestamp(r.now()),
	})
	now.Conditions, now.Phase = summary.Conditions, summary.Phase
	s.keepWarnings()
	now.ObservedGeneration = s.stack.Generation
	r.describe(s)
	_, certificate := s.secrets.Values.Expiry()
	metrics.Observe(s.stack, certificate)
	if equality.Semantic.DeepEqual(previous.Status, *now) {
		return nil
	}
	return r.writer.Write(ctx, s.stack, &previous.Status, s.report.Events)
}

// observe adds the state of the workload to the status.
func (r *Reconciler) observe(
	ctx context.Context, s *state, failure *status.Failure,
) (observed status.Observation, err error) {
	pods, err := r.pods(ctx, s.stack)
	if err != nil {
		return observed, err
	}
	claims, err := r.pendingClaims(ctx, s.stack)
	if err != nil {
		return observed, err
	}
	live := s.live()
	var external []status.ExternalProvider
	if s.intent != nil { // the spec is valid
		external = observe.ExternalProviders(s.intent, s.planned.Plan, s.external.Packages)
	}
	observed = status.Workload(status.WorkloadInput{
		Deployment: live.Deployment, ReplicaSets: live.ReplicaSets, Pods: pods, Claims: claims,
		Earlier: s.runsEarlier(failure), Kept: s.owned.decision.Outcome == rollout.KeepTemplate,
		External: external, Now: r.now(),
	})
	s.report.Conditions = append(s.report.Conditions, observed.Available)
	s.stack.Status.Replicas = observed.Replicas
	s.stack.Status.AvailableReplicas = observed.AvailableReplicas
	var answer probe.Answer
	if s.serves(failure) && s.stack.DeletionTimestamp == nil {
		answer = r.observer.Server(&observe.Pass{
			Stack: s.stack, Intent: s.intent, Image: &s.labels.Distribution, Decision: &s.owned.decision,
			Deployment: live.Deployment, Pods: pods, Mixed: observed.Mixed, Secrets: s.secrets.Values, Report: &s.report,
		})
	}
	var inTry []corev1.Pod
	if len(external) > 0 && isTry(failure) {
		if inTry, err = tried(ctx, s.stack, r.cache); err != nil {
			return observed, err
		}
	}
	if s.intent != nil {
		r.observer.External(s.stack, status.ExternalInput{
			Providers: external, Deployment: live.Deployment, ReplicaSets: live.ReplicaSets, Pods: pods, Tried: inTry,
			Listed: answer.Providers,
		}, answer.Concluded, &s.report)
	}
	s.reportLeft()
	s.reportPaused(failure)
	s.reportLostReferences(failure)
	return observed, r.reportAutoscaler(s)
}

// isTry reports whether a failure means that a preflight pod is testing a change, or that the change failed in such a
// pod.
func isTry(failure *status.Failure) bool {
	return failure != nil && (failure.Reason == v1alpha2.ReasonPreflightInProgress ||
		failure.Reason == v1alpha2.ReasonPreflightFailed)
}

// serves reports whether the running pods match the spec. Only then do the settings in the spec apply to queries to the
// server.
func (s *state) serves(failure *status.Failure) bool {
	if failure == nil {
		return true
	}
	return failure.Reason == v1alpha2.ReasonDeploymentPaused && s.live().Deployment != nil &&
		s.owned.decision.Outcome != rollout.Changed
}

// runsEarlier reports whether the Deployment was rendered for an earlier spec, because of a failure or a rollback.
func (s *state) runsEarlier(failure *status.Failure) bool {
	rolledBack := s.owned.decision.Outcome == rollout.RolledBack
	if failure == nil || s.applied.deployed() {
		return rolledBack
	}
	if failure.Reason == v1alpha2.ReasonDeploymentPaused && rolledBack {
		return true
	}
	return s.workload.Record.Generation != s.stack.Generation
}

// reportLeft adds a condition about data that the last change to the pods left behind, or that the current change
// leaves behind, and about data that the next change deletes because it is not on the volume.
func (s *state) reportLeft() {
	left := s.workload.Record.Left
	switch {
	case s.leaves != nil:
		left = s.leaves
	case s.applied.deployed():
		left = s.owned.decision.Record.Left
	}
	reason := v1alpha2.ReasonDataLeftBehind
	if len(left) == 0 {
		reason = v1alpha2.ReasonDataNotOnVolume
	}
	for _, loss := range plan.OffVolume(&s.stack.Spec, s.places()) {
		left = append(left, loss.String())
	}
	if len(left) > 0 {
		s.report.MarkTrue(v1alpha2.ConditionDataLeftBehind, reason, leftMessage(left))
	}
}

// places returns the places of the data of the running pods or, before there are pods, of the requested pods.
func (s *state) places() *retention.Places {
	switch {
	case s.applied.deployed() && s.owned.decision.Record.Places.Known():
		return s.owned.decision.Record.Places
	case s.workload.Record.Places.Known():
		return s.workload.Record.Places
	case s.planned.Plan != nil:
		return s.planned.Plan.Places
	default:
		return nil
	}
}

// reportPaused adds the condition of a paused stack in addition to the failure of an earlier step.
func (s *state) reportPaused(failure *status.Failure) {
	if failure != nil && failure.Condition != v1alpha2.ConditionDeploymentUpdated && names.Paused(s.stack.Annotations) {
		s.report.Conditions = append(s.report.Conditions, pausedCondition(s.live().Deployment != nil, s.owned.decision))
	}
}

// keepWarnings sets the warnings in the status. If this reconcile did not plan the stack, the warnings about the same
// spec stay.
func (s *state) keepWarnings() {
	now := &s.stack.Status
	warnings := s.warnings
	switch {
	case s.planned.Plan != nil:
		warnings = plan.Warnings(warnings, s.planned.Plan.Warnings)
	case now.ObservedGeneration == s.stack.Generation:
		return
	}
	now.Warnings = plan.Kept(warnings)
	for i := range now.Warnings {
		now.Warnings[i] = report.InItsWords(s.stack, now.Warnings[i])
	}
}

// describe sets the status fields other than the conditions. After a failure, undetermined fields keep their values.
func (r *Reconciler) describe(s *state) {
	now, name, made := &s.stack.Status, s.stack.Name, s.planned.Plan
	now.Selector = labels.SelectorFromSet(names.Selector(name)).String()
	observe.SetVersion(now, r.now(), func(v *v1alpha2.VersionStatus) { v.OperatorVersion = r.version })
	if !s.applied.deployed() {
		return
	}
	if !s.applied.rejected(kindService) {
		now.ServiceURL = ""
		if slices.ContainsFunc(s.applied.objects, func(one apply.Applied) bool { return one.Kind.Kind == kindService }) {
			now.ServiceURL = serviceURL(s.stack, made.PodsServeTLS())
		}
	}
	// The objects that expose the stack remain while the settings are unknown, and the stack keeps its host name.
	if !s.applied.rejectedExposure() && !s.planned.Input.Cluster.ExposureUnknown {
		now.RouteURL = routeURL(made, s.applied.objects, s.planned.MayHave)
	}
	now.ResolvedDistribution = s.resolved()
	if image := s.keptImage(); image != "" {
		now.ResolvedDistribution.Image, now.ResolvedDistribution.ImageFrom, now.ResolvedDistribution.Digest = image, "", ""
		now.ResolvedDistribution.CatalogueImage = s.image.Catalog
	}
	now.ConfigGeneration = nil
	if made.Config != nil {
		now.ConfigGeneration = configGeneration(made, s.applied.objects)
	}
	r.observer.Distributions(s.stack, &s.labels.Distribution, s.image.Overrides.All)
}

// serviceURL returns the URL of the server inside the cluster.
func serviceURL(stack *stack, tls bool) string {
	scheme := "http"
	if tls {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s.%s.svc.cluster.local:%d", scheme, names.Service(stack.Name), stack.Namespace,
		render.Port(&stack.Spec))
}

// releaseFrom maps the sources of a release to their names in the status.
var releaseFrom = map[distribution.DetectedBy]string{
	distribution.ByVersion: "version", distribution.ByCatalogue: "catalogue", distribution.ByTag: "image-tag",
	distribution.ByLabel: "image-label",
	distribution.Unknown: "unknown",
}

func (s *state) resolved() *v1alpha2.ResolvedDistribution {
	asked, image := s.stack.Spec.Distribution, &s.labels.Distribution
	resolved := &v1alpha2.ResolvedDistribution{
		Name: asked.Name, Version: asked.Version, Image: image.Image, ImageFrom: s.image.From,
		Digest: s.labels.Digest, TagDigest: s.labels.Tag.Moved, ConfigSource: s.planned.Plan.ConfigSource,
		ServerReleaseFrom: releaseFrom[image.DetectedBy],
		ConfigHash:        s.planned.Plan.ConfigHash,
	}
	if image.DetectedBy != distribution.Unknown {
		resolved.ServerRelease = image.Release.Line
	}
	if resolved.Catalogue() != s.image.Catalog {
		resolved.CatalogueImage = s.image.Catalog
	}
	return resolved
}

// keptImage returns the image of a template that is kept if it is not the image that the operator would run, and
// otherwise an empty string.
func (s *state) keptImage() string {
	if outcome := s.owned.decision.Outcome; outcome != rollout.KeepTemplate && outcome != rollout.RolledBack {
		return ""
	}
	running := render.ServerImage(s.stack, &s.applied.deployment.Spec.Template.Spec)
	if running == s.planned.Plan.Image() || running == s.labels.Distribution.Image {
		return ""
	}
	return running
}

func configGeneration(made *plan.Plan, objects []apply.Applied) *v1alpha2.ConfigGeneration {
	generation := &v1alpha2.ConfigGeneration{
		ConfigMapName: made.ConfigMapName, ProviderCount: made.ProviderCount,
		ResourceCount: made.ResourceCount, ConfigVersion: made.ConfigVersion,
	}
	i := slices.IndexFunc(objects, func(a apply.Applied) bool {
		return a.Kind.Kind == kindConfigMap && a.Object.GetName() == made.ConfigMapName
	})
	if i >= 0 {
		created := objects[i].Object.GetCreationTimestamp()
		generation.GeneratedAt = &created
	}
	return generation
}
