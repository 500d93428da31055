package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// readWorkload reads the running workload from the caches. If the stack's Deployment is too large for the work with it,
// it returns the workload and a stub.TooLargeError. The workload is then only for the status.
func (r *Reconciler) readWorkload(ctx context.Context, stack *stack) (workload, error) {
	found := workload{
		Status: stack.Status, VolumeRelease: func() string { return r.releaseOfVolume(ctx, stack) },
	}
	var deployment appsv1.Deployment
	err := r.children.Get(ctx, childKey(stack, names.Deployment(stack.Name)), &deployment)
	large, isLarge := errors.AsType[*stub.TooLargeError](err)
	if client.IgnoreNotFound(err) != nil && !isLarge {
		return found, fmt.Errorf("read cached Deployment: %w", err)
	}
	owned := metav1.IsControlledBy(&deployment, stack) || ownerOf(stack).Adopts(&deployment) // false if it does not exist
	if owned && !isLarge {
		if err := apply.TakeOver(kindDeployment, &deployment, ownerOf(stack), names.FieldManager); err != nil {
			return found, fmt.Errorf("determine which operator wrote the pod template: %w", err)
		}
	}
	if owned {
		found.Deployment = &deployment
		found.Record, _ = rollout.Parse(deployment.Annotations)
	}
	var sets appsv1.ReplicaSetList
	selector := client.MatchingLabels(names.Selector(stack.Name))
	if err := r.cache.List(ctx, &sets, client.InNamespace(stack.Namespace), selector, readOnly); err != nil {
		return found, fmt.Errorf("list cached ReplicaSets: %w", err)
	}
	found.ReplicaSets = sets.Items
	if owned && isLarge {
		return found, large
	}
	return found, nil
}

// releaseOfVolume returns the server release that wrote the data on the stack's volume claim, or an empty string.
func (r *Reconciler) releaseOfVolume(ctx context.Context, stack *stack) string {
	claim, err := r.cachedClaim(ctx, stack)
	if err != nil || claim == nil || claim.Labels[names.LabelInstance] != stack.Name {
		return ""
	}
	return claim.Annotations[names.AnnotationRelease]
}

// readOnly is for lists of pods and ReplicaSets in the cache. Any client can create thousands with the labels of a
// stack, so that copies of them would take hundreds of megabytes at each reconcile. Callers must not change the
// objects.
const readOnly = client.UnsafeDisableDeepCopy

// pods returns the stack's pods from the cache. Callers must not change them.
func (r *Reconciler) pods(ctx context.Context, stack *stack) ([]corev1.Pod, error) {
	var pods corev1.PodList
	selector := client.MatchingLabels(names.Selector(stack.Name))
	if err := r.cache.List(ctx, &pods, client.InNamespace(stack.Namespace), selector, readOnly); err != nil {
		return nil, fmt.Errorf("list cached pods: %w", err)
	}
	return pods.Items, nil
}

// These are the kinds of children that the steps refer to.
const (
	kindDeployment     = "Deployment"
	kindServiceAccount = "ServiceAccount"
	kindNetworkPolicy  = "NetworkPolicy"
	kindSecret         = "Secret"
	kindConfigMap      = "ConfigMap"
	kindService        = "Service"
	kindVolumeClaim    = "PersistentVolumeClaim"
)

// typedDeployment returns a live Deployment, or nil if there is none. It returns `known`, without a conversion, if
// `known` has the same version.
func typedDeployment(live client.Object, known *appsv1.Deployment) (*appsv1.Deployment, error) {
	if live == nil {
		return nil, nil
	}
	if known != nil && live.GetUID() == known.UID && live.GetResourceVersion() == known.ResourceVersion {
		return known, nil
	}
	return typed[appsv1.Deployment](live)
}

// typed returns a live object as its Go type. Callers must not change it.
func typed[T any](live client.Object) (*T, error) {
	if object, ok := any(live).(*T); ok {
		return object, nil
	}
	object := new(T)
	plain, ok := live.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%T is not a %T", live, object)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(plain.Object, object); err != nil {
		return nil, fmt.Errorf("convert %s %q: %w", plain.GetKind(), plain.GetName(), err)
	}
	return object, nil
}
