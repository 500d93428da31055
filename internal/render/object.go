package render

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is one child, ready to be applied.
type Object struct {
	// GVK is its kind.
	GVK schema.GroupVersionKind
	// Name is its name, in the namespace of the stack.
	Name string
	// Apply is a pointer to its typed apply configuration.
	Apply runtime.ApplyConfiguration
}

var (
	configMapKind      = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secretKind         = corev1.SchemeGroupVersion.WithKind("Secret")
	serviceAccountKind = corev1.SchemeGroupVersion.WithKind("ServiceAccount")
	claimKind          = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	podKind            = corev1.SchemeGroupVersion.WithKind("Pod")
	deploymentKind     = appsv1.SchemeGroupVersion.WithKind("Deployment")
	serviceKind        = corev1.SchemeGroupVersion.WithKind("Service")
	budgetKind         = policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")
	ingressKind        = networkingv1.SchemeGroupVersion.WithKind("Ingress")
	policyKind         = networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")
	autoscalerKind     = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler")
)

// factories lists every child in the order in which they are applied: what a pod needs to start and who may connect to
// it, then the Deployment, then what points at its pods. The derived Secret comes with values and so by StorageSecret, before the
// ServiceAccount.
var factories = []factory{
	child(configMapKind, baseConfigMap),
	child(configMapKind, configMap),
	child(configMapKind, startup),
	child(configMapKind, caBundle),
	child(serviceAccountKind, serviceAccount),
	child(claimKind, persistentVolumeClaim),
	child(policyKind, networkPolicy),
	child(deploymentKind, deployment),
	child(serviceKind, service),
	child(ingressKind, ingress),
	child(RouteKind, route),
	child(HTTPRouteKind, httpRoute),
	child(budgetKind, podDisruptionBudget),
	child(autoscalerKind, horizontalPodAutoscaler),
}

// Objects renders every child the stack should have, in the order to apply them.
//
// Errors: a configuration too large for a ConfigMap (*TooLargeError), a spec that cannot be rendered
// (*InvalidError), or a value of the spec that is no Kubernetes value.
func Objects(in Input) ([]Object, error) {
	objects := make([]Object, 0, len(factories))
	for _, build := range factories {
		object, err := build(in)
		if err != nil {
			return nil, err
		}
		if object != nil {
			objects = append(objects, *object)
		}
	}
	return objects, nil
}

// Kinds lists every kind of object that a stack may have, in apply order.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		configMapKind, secretKind, serviceAccountKind, claimKind, policyKind, deploymentKind, serviceKind, ingressKind,
		RouteKind, HTTPRouteKind, budgetKind,
		autoscalerKind,
	}
}

// PrunedKinds lists the kinds whose objects are deleted once a stack no longer wants them. A claim is not among them:
// data goes with the stack only. Of pods it is those in which a change was tried.
func PrunedKinds() []schema.GroupVersionKind {
	kinds := slices.DeleteFunc(Kinds(), func(kind schema.GroupVersionKind) bool { return kind == claimKind })
	return append(kinds, podKind)
}

// PreflightKinds lists the kinds of what a change is tried with, the pod first: it is to go before what it reads.
func PreflightKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{podKind, policyKind, secretKind, configMapKind}
}

// factory makes one child; nil says that it should not exist.
type factory func(in Input) (*Object, error)

// applied is what every typed apply configuration of a whole object offers.
type applied[T any] interface {
	*T
	runtime.ApplyConfiguration
	GetName() *string
}

// child wraps the function that renders one object of a kind.
func child[T any, P applied[T]](kind schema.GroupVersionKind, build func(Input) (P, error)) factory {
	return func(in Input) (*Object, error) {
		apply, err := build(in)
		if err != nil || apply == nil {
			return nil, err
		}
		return &Object{GVK: kind, Name: *apply.GetName(), Apply: apply}, nil
	}
}

// Unstructured converts an object to what is sent to the API server. The rendered object is not shared with it: a
// client writes the server's answer into what it was given.
func Unstructured(object Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.Apply)
	if err != nil {
		return nil, fmt.Errorf("convert %s %q: %w", object.GVK.Kind, object.Name, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}
