package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// prune deletes the objects that the plan no longer contains. Objects that an existing ReplicaSet uses are kept, so
// that pods of an older revision can still start, and a rollback to that revision is possible. Objects that expose the
// stack are kept while the exposure settings are unknown, or while the API server rejects their replacement. The policy
// that makes Gateways connect over HTTPS is kept while pods serve HTTPS.
func (r *Reconciler) prune(
	ctx context.Context, stack *stack, live *workload, own *owned, keepsExposure, podsServeTLS bool,
) error {
	keep, err := r.kept(ctx, stack, live, own)
	if err != nil {
		return err
	}
	var readErr error
	used := sync.OnceValue(func() map[apply.Child]bool {
		var used map[apply.Child]bool
		used, readErr = r.usedByRevisions(ctx, stack)
		return used
	})
	err = r.applier.Prune(ctx, ownerOf(stack), r.prunedKinds(), func(child apply.Child) bool {
		if keep[child] || keepsExposure && exposes(stack, child) || podsServeTLS && verifiesServer(stack, child) {
			return true
		}
		ofPods := child.Kind.Kind == kindConfigMap || child.Kind.Kind == kindSecret || child.Kind.Kind == kindServiceAccount
		return ofPods && (used()[child] || readErr != nil)
	})
	return errors.Join(err, readErr)
}

// exposes reports whether a child is part of the stack's exposure.
func exposes(stack *stack, child apply.Child) bool {
	return slices.Contains(render.ExposureKinds(), child.Kind) || verifiesServer(stack, child)
}

// verifiesServer reports whether a child makes Gateways connect to the server over HTTPS.
func verifiesServer(stack *stack, child apply.Child) bool {
	return child.Kind == render.BackendTLSPolicyKind ||
		child.Kind.Kind == kindConfigMap && child.Name == names.ServerCA(stack.Name)
}

// prunedKinds returns the kinds to prune, without kinds that the cluster does not serve.
func (r *Reconciler) prunedKinds() []schema.GroupVersionKind {
	return slices.DeleteFunc(render.PrunedKinds(), func(kind schema.GroupVersionKind) bool {
		return r.apis.Has(kind) && !r.apis.Serves(kind)
	})
}

// usedByRevisions returns the children that the revisions of the Deployment use. It reads the ReplicaSets from the API
// server. After an outage, the watch of ReplicaSets may recover later than other watches, and ReplicaSets that the
// cache lacks still need their objects. prune calls usedByRevisions only before a deletion.
func (r *Reconciler) usedByRevisions(ctx context.Context, stack *stack) (map[apply.Child]bool, error) {
	used := map[apply.Child]bool{}
	for next := ""; ; {
		var sets appsv1.ReplicaSetList
		err := r.direct.List(ctx, &sets, client.InNamespace(stack.Namespace),
			client.MatchingLabels(names.Selector(stack.Name)), client.Limit(directPage), client.Continue(next))
		if err != nil {
			return nil, fmt.Errorf("list ReplicaSets from the API server: %w", err)
		}
		for i := range sets.Items {
			for _, child := range usedBy(&sets.Items[i].Spec.Template.Spec) {
				used[child] = true
			}
		}
		if next = sets.Continue; next == "" {
			return used, nil
		}
	}
}

// directPage is the number of objects in each page of a list that the operator reads from the API server. Any client
// can create objects with the labels of a stack, and each of them can need 15 MB of memory.
const directPage = 2

// kept returns the children that are not deleted: the planned children, those that pods of any revision need, and the
// newest other ConfigMap of each kind (generated, base).
func (r *Reconciler) kept(ctx context.Context, stack *stack, live *workload, own *owned) (map[apply.Child]bool, error) {
	var existing metav1.PartialObjectMetadataList
	existing.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	labels := client.MatchingLabels(names.ChildSelector(stack.Name))
	if err := r.cache.List(ctx, &existing, client.InNamespace(stack.Namespace), labels); err != nil {
		return nil, fmt.Errorf("list cached ConfigMaps: %w", err)
	}
	keep := map[apply.Child]bool{}
	var current []string
	for _, desired := range own.desired {
		child := childOf(desired)
		keep[child] = true
		if child.Kind.Kind == kindConfigMap {
			current = append(current, child.Name)
		}
	}
	for _, name := range plan.PreviousConfigMaps(existing.Items, current) {
		keep[apply.Child{Kind: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Name: name}] = true
	}
	sets := revisions(live)
	for i := range sets {
		for _, child := range usedBy(&sets[i].Spec.Template.Spec) {
			keep[child] = true
		}
	}
	return keep, nil
}

// revisions returns the stack's ReplicaSets, and a ReplicaSet with the template of the Deployment. The second part is
// necessary because the newest ReplicaSet of the Deployment might not exist yet, or might not be in the cache yet.
// Without a Deployment, it returns every ReplicaSet with the labels of the stack.
func revisions(w *workload) []appsv1.ReplicaSet {
	if w.Deployment == nil {
		return w.ReplicaSets
	}
	sets := slices.DeleteFunc(slices.Clone(w.ReplicaSets), func(set appsv1.ReplicaSet) bool {
		return !metav1.IsControlledBy(&set, w.Deployment)
	})
	return append(sets, appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: w.Deployment.Spec.Template}})
}

// usedBy returns the ServiceAccount of a pod template, the Secrets in the variables of its containers, and the
// ConfigMaps in its volumes.
func usedBy(pod *corev1.PodSpec) []apply.Child {
	var used []apply.Child
	add := func(kind, name string) {
		used = append(used, apply.Child{Kind: corev1.SchemeGroupVersion.WithKind(kind), Name: name})
	}
	if pod.ServiceAccountName != "" {
		add(kindServiceAccount, pod.ServiceAccountName)
	}
	for i := range pod.Containers {
		for _, variable := range pod.Containers[i].Env {
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
				add(kindSecret, variable.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
	for i := range pod.Volumes {
		if source := pod.Volumes[i].ConfigMap; source != nil {
			add(kindConfigMap, source.Name)
		}
	}
	return used
}
