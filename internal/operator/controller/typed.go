package controller

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
