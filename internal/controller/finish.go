package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// finish always runs: it observes the workload, whatever became of the steps,
// and writes the status when it says something new. A quiet failure says
// nothing: the next attempt does.
func (r *Reconciler) finish(ctx context.Context, s *state, failure *status.Failure) error {
	if failure != nil && failure.Retry == status.Quiet {
		return nil
	}
	previous := s.object.DeepCopy()
	if err := r.observe(ctx, s, failure); err != nil {
		return err
	}
	now := &s.object.Status
	summary := status.Summarize(status.Input{
		Generation: s.object.Generation, Previous: previous.Status.Conditions, Observed: s.conditions, Failure: failure,
		Overdue: s.overdue, Deleting: s.object.DeletionTimestamp != nil, Now: timestamp(r.now()),
	})
	now.Conditions, now.Phase = summary.Conditions, summary.Phase
	now.ObservedGeneration = s.object.Generation
	if err := r.describe(ctx, s); err != nil {
		return err
	}
	stacks.observe(s.object)
	if equality.Semantic.DeepEqual(previous.Status, *now) {
		return nil
	}
	written := s.object.DeepCopy()
	err := r.direct.Status().Patch(ctx, written, statusPatch{}, client.FieldOwner(names.FieldManager))
	if apierrors.IsInvalid(err) {
		gone, readErr := r.isGone(ctx, s)
		if readErr != nil || gone {
			return readErr
		}
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write status: %w", err)
	}
	if err == nil {
		r.statuses.remember(written)
		r.report(s, &previous.Status)
		countChange(s.object, &previous.Status)
	}
	return nil
}

// isGone reports whether the object is no more, or another one has its name.
func (r *Reconciler) isGone(ctx context.Context, s *state) (bool, error) {
	now := &v1alpha2.LlamaStackDistribution{}
	err := r.direct.Get(ctx, s.name(), now)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read the stack past the cache: %w", err)
	default:
		return now.UID != s.object.UID, nil
	}
}

// statusPatch replaces the status of the object with this UID: nobody else writes it.
// Another object that was made under the name since refuses it. A merge patch cannot ask
// for that, the API server takes no metadata of one for a status.
type statusPatch struct{}

// Type is that of JSON patches.
func (statusPatch) Type() types.PatchType { return types.JSONPatchType }

// Data is the patch.
func (statusPatch) Data(object client.Object) ([]byte, error) {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	if !ok {
		return nil, fmt.Errorf("make a status patch of a %T", object)
	}
	return json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": stack.UID},
		{"op": "add", "path": "/status", "value": stack.Status},
	})
}

// observe notes the state of the workload.
func (r *Reconciler) observe(ctx context.Context, s *state, failure *status.Failure) error {
	pods, err := r.pods(ctx, s)
	if err != nil {
		return err
	}
	claims, err := r.pendingClaims(ctx, s)
	if err != nil {
		return err
	}
	observed := status.Workload(status.WorkloadInput{
		Deployment: s.deployment, ReplicaSets: s.replicaSets, Pods: pods, Claims: claims, Earlier: s.runsEarlier(failure),
	})
	s.conditions = append(s.conditions, observed.Conditions...)
	s.overdue, s.mixed = observed.Overdue, observed.Mixed
	s.object.Status.Replicas = observed.Replicas
	s.object.Status.AvailableReplicas = observed.AvailableReplicas
	if s.serves(failure) && s.object.DeletionTimestamp == nil {
		r.observeServer(s, pods)
	}
	s.tellLeft()
	s.tellPaused(failure)
	s.watchReferences(failure)
	return r.watchAutoscaler(s)
}

// runsEarlier says that the Deployment is of a spec before this one: a failure
// keeps this one from it, or somebody rolled it back.
func (s *state) runsEarlier(failure *status.Failure) bool {
	if failure == nil || s.deployed {
		return s.decision.Outcome == rollout.RolledBack
	}
	if failure.Reason == v1alpha2.ReasonDeploymentPaused && s.decision.Outcome == rollout.RolledBack {
		return true
	}
	return s.running.Generation != s.object.Generation
}

// describe fills in the facts beside the conditions. What a failed reconcile did
// not find out stays as it was.
func (r *Reconciler) describe(ctx context.Context, s *state) error {
	now, name := &s.object.Status, s.object.Name
	now.Selector = labels.SelectorFromSet(names.Selector(name)).String()
	r.setVersion(now, func(v *v1alpha2.VersionStatus) { v.OperatorVersion = r.version })
	if !s.deployed {
		return nil
	}
	if !s.refusedAny("Service") {
		now.ServiceURL = s.serviceURL()
	}
	if !s.refusedExposure() {
		now.RouteURL = s.routeURL()
	}
	now.ResolvedDistribution = s.resolved()
	now.GeneratedConfigMap, now.ConfigGeneration = "", nil
	if s.planned.Config != nil {
		now.GeneratedConfigMap = s.planned.ConfigMapName
		now.ConfigGeneration = s.configGeneration()
	}
	if now.DistributionConfig == nil {
		now.DistributionConfig = &v1alpha2.DistributionConfigStatus{}
	}
	now.DistributionConfig.ActiveDistribution = s.object.Spec.Distribution.Name
	if now.DistributionConfig.ActiveDistribution == "" {
		now.DistributionConfig.ActiveDistribution = s.distribution.Image
	}
	images, err := r.images(ctx, s)
	if err != nil {
		return err
	}
	now.DistributionConfig.AvailableDistributions = r.available.with(images.all)
	return nil
}

// serviceURL is where the server is reached inside the cluster.
func (s *state) serviceURL() string {
	scheme := "http"
	if s.planned.ServesTLS {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s.%s.svc.cluster.local:%d", scheme, names.Service(s.object.Name), s.object.Namespace, render.Port(&s.object.Spec))
}

// releaseFrom is how the status says that a release was found.
var releaseFrom = map[distribution.DetectedBy]string{
	distribution.ByVersion: "version", distribution.ByCatalogue: "catalogue", distribution.ByTag: "image-tag", distribution.ByLabel: "image-label",
	distribution.Unknown: "unknown",
}

func (s *state) resolved() *v1alpha2.ResolvedDistribution {
	asked := s.object.Spec.Distribution
	resolved := &v1alpha2.ResolvedDistribution{
		Name: asked.Name, Version: asked.Version, CatalogueImage: s.catalogueImage, Image: s.distribution.Image, ImageFrom: s.imageFrom,
		Digest: s.digest, ConfigSource: s.planned.ConfigSource, ServerReleaseFrom: releaseFrom[s.distribution.DetectedBy], ConfigHash: s.planned.ConfigHash,
	}
	if s.distribution.DetectedBy != distribution.Unknown {
		resolved.ServerRelease = s.distribution.Release.Line
	}
	return resolved
}

func (s *state) configGeneration() *v1alpha2.ConfigGeneration {
	generation := &v1alpha2.ConfigGeneration{
		ConfigMapName: s.planned.ConfigMapName, ProviderCount: s.planned.ProviderCount,
		ResourceCount: s.planned.ResourceCount, ConfigVersion: s.planned.ConfigVersion,
	}
	i := slices.IndexFunc(s.applied, func(a apply.Applied) bool {
		return a.Kind.Kind == kindConfigMap && a.Object.GetName() == s.planned.ConfigMapName
	})
	if i >= 0 {
		created := s.applied[i].Object.GetCreationTimestamp()
		generation.GeneratedAt = &created
	}
	return generation
}
