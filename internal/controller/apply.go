package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// claim makes sure that every child is ours to apply, and decides by the record
// what becomes of the Deployment.
func (r *Reconciler) claim(ctx context.Context, s *state) error {
	err := r.claimPlanned(ctx, s)
	if _, taken := errors.AsType[*apply.NameTaken](err); taken {
		if err := r.build(ctx, s, true); err != nil {
			return err
		}
		err = r.claimPlanned(ctx, s)
	}
	if err != nil {
		return notOurs(err)
	}
	if err := keepVolume(s); err != nil {
		return err
	}
	return r.decide(ctx, s)
}

func (r *Reconciler) claimPlanned(ctx context.Context, s *state) error {
	wanted, err := objects(s)
	if err != nil {
		return err
	}
	s.claims, err = r.applier.CheckOwnership(ctx, s.owner(), wanted)
	return err
}

// objects are the planned objects as they are sent, with the Secret of derived
// values among them.
func objects(s *state) ([]*unstructured.Unstructured, error) {
	planned := s.planned.WithStorageSecret(s.derived)
	objects := make([]*unstructured.Unstructured, 0, len(planned))
	for _, object := range planned {
		converted, err := render.Unstructured(object)
		if err != nil {
			return nil, err
		}
		objects = append(objects, converted)
	}
	return objects, nil
}

// notOurs makes the failure of a refused claim.
func notOurs(err error) error {
	_, conflict := errors.AsType[*apply.OwnershipConflict](err)
	_, taken := errors.AsType[*apply.NameTaken](err)
	if !conflict && !taken {
		return err
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonOwnershipConflict,
		Message: err.Error(), Retry: status.Later, Err: err,
	}
}

// decide replaces the rendered Deployment by what its record says is to be
// applied.
func (r *Reconciler) decide(ctx context.Context, s *state) error {
	i := slices.IndexFunc(s.claims, func(c apply.Desired) bool { return isDeployment(c.Wanted) })
	live, err := s.typed(s.claims[i].Live)
	if err != nil {
		return err
	}
	if err := r.weigh(ctx, s, live); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(s.decision.Deployment, s.planned.Rendered.Deployment) {
		return nil // it is what was claimed
	}
	return s.setDeployment(s.decision.Deployment)
}

// weigh compares what is rendered with a live Deployment, nil when there is none.
func (r *Reconciler) weigh(ctx context.Context, s *state, live *appsv1.Deployment) error {
	var err error
	s.decision, err = rollout.Decide(live, s.replicaSets, s.planned.Rendered)
	if err == nil && s.decision.NewerGeneration {
		if s.planned.Rendered.Newest, err = r.isNewest(ctx, s); err == nil {
			s.decision, err = rollout.Decide(live, s.replicaSets, s.planned.Rendered)
		}
	}
	if err != nil {
		return fmt.Errorf("decide what to apply: %w", err)
	}
	if s.decision.Outcome == rollout.StaleCache {
		return r.stale(s, live)
	}
	return nil
}

// isNewest reports whether the API server knows no newer generation of the stack than
// the cache does. A record that has one then was not written for this stack.
func (r *Reconciler) isNewest(ctx context.Context, s *state) (bool, error) {
	now := &v1alpha2.LlamaStackDistribution{}
	if err := r.direct.Get(ctx, s.name(), now); err != nil {
		return false, fmt.Errorf("read the stack past the cache: %w", err)
	}
	return now.UID == s.object.UID && now.Generation == s.object.Generation, nil
}

// stalePatience is how long the cache, or the Deployment controller, may be behind
// before the status tells.
const stalePatience = time.Minute

// stale is the failure of a look at objects of different moments. It is nobody's concern
// for the moment that it takes; one that lasts is told.
func (r *Reconciler) stale(s *state, live *appsv1.Deployment) error {
	failure := &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonProgressing,
		Message: s.decision.Message, Retry: status.Quiet,
	}
	if r.now().Sub(lastWrite(live)) > stalePatience {
		failure.Retry, failure.Unknown, failure.Err = status.Backoff, true, errors.New(s.decision.Message)
	}
	return failure
}

// lastWrite is when somebody last wrote fields of an object.
func lastWrite(object metav1.Object) time.Time {
	last := object.GetCreationTimestamp().Time
	for _, entry := range object.GetManagedFields() {
		if entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// setDeployment claims another rendering of the Deployment.
func (s *state) setDeployment(deployment *appsv1ac.DeploymentApplyConfiguration) error {
	i := slices.IndexFunc(s.claims, func(c apply.Desired) bool { return isDeployment(c.Wanted) })
	object := render.Object{GVK: s.claims[i].Wanted.GroupVersionKind(), Name: s.claims[i].Wanted.GetName(), Apply: deployment}
	var err error
	s.claims[i].Wanted, err = render.Unstructured(object)
	return err
}

// apply writes what differs. What was applied before a failure stays; the next
// attempt finds it in force. Refusals of what comes after the Deployment are told
// by the step refused.
func (r *Reconciler) apply(ctx context.Context, s *state) error {
	if err := r.applyVolume(ctx, s); err != nil {
		return err
	}
	if err := r.handOverReplicas(ctx, s); err != nil {
		return err
	}
	if err := r.regainTemplate(ctx, s); err != nil {
		return err
	}
	if err := r.applyPods(ctx, s); err != nil {
		return err
	}
	r.applyDependents(ctx, s)
	for _, applied := range s.applied {
		if applied.Outcome == apply.Adopted {
			s.events = append(s.events, tell(v1alpha2.EventAdopted,
				fmt.Sprintf("Adopted %s %q, which had no controller", applied.Kind.Kind, applied.Object.GetName())))
		}
		if applied.Kind.Kind != kindDeployment {
			continue
		}
		var err error
		if s.deployment, err = s.typed(applied.Object); err != nil {
			return err
		}
		s.deployed = true
		if applied.Outcome != apply.Unchanged {
			s.events = append(s.events, tell(v1alpha2.EventDeploymentUpdated,
				fmt.Sprintf("Applied Deployment %q with image %q", applied.Object.GetName(), s.distribution.Image)))
		}
	}
	r.conclude(s)
	return nil
}

// regainTemplate takes the template back from who rolled it back, before our
// rendering is applied again: what came back with the older revision (a port, a
// variable, a volume) would else stay beside ours for good.
func (r *Reconciler) regainTemplate(ctx context.Context, s *state) error {
	if s.decision.Outcome != rollout.Changed && s.decision.Outcome != rollout.Unchanged {
		return nil
	}
	i := slices.IndexFunc(s.claims, func(c apply.Desired) bool { return isDeployment(c.Wanted) })
	var err error
	s.claims[i], err = r.applier.Reclaim(ctx, s.claims[i],
		[]any{"spec", "template"}, []any{"metadata", "annotations", names.AnnotationInputs})
	return err
}

// conclude notes the conditions that follow from the applied objects.
func (r *Reconciler) conclude(s *state) {
	message := "Every object is applied"
	if s.newerImage != "" {
		message += fmt.Sprintf("; this release of the operator would start a new stack with image %q, set spec.distribution.version to use it",
			s.newerImage)
	}
	if left := s.decision.Record.Autoscaled; left.Count > 0 {
		message += fmt.Sprintf("; it keeps the %s that the autoscaler left, until spec.workload.replicas is not %d any more",
			count(int(left.Count), "replica"), left.Spec)
	}
	s.holds(v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded, message)
	if !s.refusedAny("Service") {
		s.holds(v1alpha2.ConditionServiceReady, v1alpha2.ReasonServiceReady, "Service is ready")
	}
	s.tellDecision()
	if s.volumeTrouble != nil {
		s.fails(s.volumeTrouble.Condition, s.volumeTrouble.Reason, s.volumeTrouble.Message)
		return
	}
	for _, applied := range s.applied {
		if applied.Kind.Kind == kindClaim {
			s.conditions = append(s.conditions, storage(applied.Object))
		}
	}
}

// prune deletes what the plan no longer has. What a live ReplicaSet uses stays,
// so that a pod of an older revision can still start and be rolled back to.
func (r *Reconciler) prune(ctx context.Context, s *state) error {
	keep, err := r.kept(ctx, s)
	if err != nil {
		return err
	}
	var readErr error
	used := sync.OnceValue(func() map[apply.Child]bool {
		var used map[apply.Child]bool
		used, readErr = r.usedByRevisions(ctx, s)
		return used
	})
	_, err = r.applier.Prune(ctx, s.owner(), r.prunedKinds(), func(child apply.Child) bool {
		if keep[child] || s.keepsExposure(child) {
			return true
		}
		ofPods := child.Kind.Kind == kindConfigMap || child.Kind.Kind == kindSecret || child.Kind.Kind == kindServiceAccount
		return ofPods && (used()[child] || readErr != nil)
	})
	return errors.Join(err, readErr)
}

// usedByRevisions are the children that the revisions of the Deployment use, as the API server has them now. After an
// outage the watch of ReplicaSets may come back later than the others, and what the cache does not know is needed all the
// same. It is asked for only when something would go.
func (r *Reconciler) usedByRevisions(ctx context.Context, s *state) (map[apply.Child]bool, error) {
	var sets appsv1.ReplicaSetList
	err := r.direct.List(ctx, &sets, client.InNamespace(s.object.Namespace), client.MatchingLabels(names.Selector(s.object.Name)))
	if err != nil {
		return nil, fmt.Errorf("list ReplicaSets past the cache: %w", err)
	}
	used := map[apply.Child]bool{}
	for i := range sets.Items {
		for _, child := range usedBy(&sets.Items[i].Spec.Template.Spec) {
			used[child] = true
		}
	}
	return used, nil
}

// kept are the children that stay: the planned ones, and those that a pod which
// runs, or could be rolled back to, needs.
func (r *Reconciler) kept(ctx context.Context, s *state) (map[apply.Child]bool, error) {
	var existing metav1.PartialObjectMetadataList
	existing.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	labels := client.MatchingLabels(names.ChildSelector(s.object.Name))
	if err := r.cache.List(ctx, &existing, client.InNamespace(s.object.Namespace), labels); err != nil {
		return nil, fmt.Errorf("list cached ConfigMaps: %w", err)
	}
	keep := map[apply.Child]bool{}
	var current []string
	for _, claim := range s.claims {
		child := apply.Child{Kind: claim.Wanted.GroupVersionKind(), Name: claim.Wanted.GetName()}
		keep[child] = true
		if child.Kind.Kind == kindConfigMap {
			current = append(current, child.Name)
		}
	}
	sets := templates(s)
	for _, name := range plan.KeepConfigMaps(existing.Items, current, sets) {
		keep[apply.Child{Kind: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Name: name}] = true
	}
	for i := range sets {
		for _, child := range usedBy(&sets[i].Spec.Template.Spec) {
			keep[child] = true
		}
	}
	return keep, nil
}

// templates are the stack's ReplicaSets, with one that stands for the Deployment
// itself: its own may not have been made or seen yet. Without a Deployment that is
// known to be the stack's, every ReplicaSet with its labels counts.
func templates(s *state) []appsv1.ReplicaSet {
	if s.deployment == nil {
		return s.replicaSets
	}
	sets := slices.DeleteFunc(slices.Clone(s.replicaSets), func(set appsv1.ReplicaSet) bool {
		return !metav1.IsControlledBy(&set, s.deployment)
	})
	return append(sets, appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: s.deployment.Spec.Template}})
}

// usedBy are the Secrets and the ServiceAccount that a pod template needs.
func usedBy(pod *corev1.PodSpec) []apply.Child {
	var used []apply.Child
	if pod.ServiceAccountName != "" {
		used = append(used, apply.Child{Kind: corev1.SchemeGroupVersion.WithKind(kindServiceAccount), Name: pod.ServiceAccountName})
	}
	for i := range pod.Containers {
		for _, variable := range pod.Containers[i].Env {
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
				used = append(used, apply.Child{
					Kind: corev1.SchemeGroupVersion.WithKind(kindSecret), Name: variable.ValueFrom.SecretKeyRef.Name,
				})
			}
		}
	}
	for i := range pod.Volumes {
		if source := pod.Volumes[i].ConfigMap; source != nil {
			used = append(used, apply.Child{Kind: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Name: source.Name})
		}
	}
	return used
}

const (
	kindDeployment     = "Deployment"
	kindServiceAccount = "ServiceAccount"
)

func isDeployment(object *unstructured.Unstructured) bool { return object.GetKind() == kindDeployment }

// typed is a live Deployment, nil when there is none.
func (s *state) typed(live client.Object) (*appsv1.Deployment, error) {
	if live == nil {
		return nil, nil
	}
	if s.deployment != nil && live.GetUID() == s.deployment.UID && live.GetResourceVersion() == s.deployment.ResourceVersion {
		return s.deployment, nil
	}
	return typed[appsv1.Deployment](live)
}

// typed is a live object as its type, not to be changed.
func typed[T any](live client.Object) (*T, error) {
	if object, ok := any(live).(*T); ok {
		return object, nil
	}
	object := new(T)
	plain, ok := live.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%T is no %T", live, object)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(plain.Object, object); err != nil {
		return nil, fmt.Errorf("convert %s %q: %w", plain.GetKind(), plain.GetName(), err)
	}
	return object, nil
}
