package render

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ChildKind is a kind of object that a stack can have, with the properties that determine how the operator handles its
// objects.
type ChildKind struct {
	schema.GroupVersionKind
	// New returns an empty object of its Go type. Nil means that the kind has a Definition, and that the operator uses no
	// Go type for it.
	New func() Child
	// Definition is the name of the CustomResourceDefinition of a kind that a cluster need not serve. Empty means that
	// the kind is built into Kubernetes.
	Definition string
	// MetadataOnly reports whether the operator caches objects of the kind without their content, because there can be
	// many large objects that belong to no stack.
	MetadataOnly bool
	// IgnoreStatus reports whether the operator ignores changes to the status of a child of this kind.
	IgnoreStatus bool
	// Exposes reports whether a child of this kind exposes the stack outside the cluster.
	Exposes bool
	// Retained reports whether the operator keeps a child that the stack no longer needs, because data must not be deleted
	// before the stack.
	Retained bool

	renderers []renderer
}

// Child is the interface of every Kubernetes object.
type Child interface {
	metav1.Object
	runtime.Object
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

// childKinds are in the order in which the operator applies their objects. The objects that a pod needs to start and
// the rules for connections come first. The Deployment comes next, followed by the objects that refer to the
// Deployment, its pods or its Service. The Secret has derived values and comes from StorageSecret.
//
// The table determines which objects are rendered, watched, cached, indexed and pruned. A new kind needs a row here,
// and RBAC permissions in a marker in internal/operator/controller/rbac.go. A test compares the markers with this
// table.
var childKinds = []ChildKind{
	{
		GroupVersionKind: configMapKind, New: func() Child { return &corev1.ConfigMap{} }, MetadataOnly: true,
		renderers: []renderer{render(baseConfigMap), render(configMap), render(startup), render(caBundle), render(serverCA)},
	},
	{GroupVersionKind: secretKind, New: func() Child { return &corev1.Secret{} }, MetadataOnly: true},
	{
		GroupVersionKind: serviceAccountKind, New: func() Child { return &corev1.ServiceAccount{} },
		renderers: []renderer{render(serviceAccount)},
	},
	{
		GroupVersionKind: claimKind, New: func() Child { return &corev1.PersistentVolumeClaim{} }, Retained: true,
		renderers: []renderer{render(persistentVolumeClaim)},
	},
	{
		GroupVersionKind: policyKind, New: func() Child { return &networkingv1.NetworkPolicy{} }, IgnoreStatus: true,
		renderers: []renderer{render(networkPolicy)},
	},
	{
		GroupVersionKind: deploymentKind, New: func() Child { return &appsv1.Deployment{} },
		renderers: []renderer{render(deployment)},
	},
	{
		GroupVersionKind: serviceKind, New: func() Child { return &corev1.Service{} },
		renderers: []renderer{render(service)},
	},
	{
		GroupVersionKind: ingressKind, New: func() Child { return &networkingv1.Ingress{} }, Exposes: true,
		renderers: []renderer{render(ingress)},
	},
	{
		GroupVersionKind: RouteKind, Definition: "routes.route.openshift.io", Exposes: true,
		renderers: []renderer{render(route)},
	},
	{ // before the HTTPRoute, whose connections to the server the policy configures
		GroupVersionKind: BackendTLSPolicyKind, Definition: "backendtlspolicies.gateway.networking.k8s.io",
		renderers: []renderer{render(backendTLSPolicy)},
	},
	{
		GroupVersionKind: HTTPRouteKind, Definition: "httproutes.gateway.networking.k8s.io", Exposes: true,
		renderers: []renderer{render(httpRoute)},
	},
	{
		GroupVersionKind: budgetKind, New: func() Child { return &policyv1.PodDisruptionBudget{} }, IgnoreStatus: true,
		renderers: []renderer{render(podDisruptionBudget)},
	},
	{
		GroupVersionKind: autoscalerKind, New: func() Child { return &autoscalingv2.HorizontalPodAutoscaler{} },
		IgnoreStatus: true,
		renderers:    []renderer{render(horizontalPodAutoscaler)},
	},
}

// ChildKinds lists every kind of object that a stack can have, in apply order. Callers must not change the list.
func ChildKinds() []ChildKind { return childKinds }

// PrunedKinds lists the kinds whose objects the operator deletes when a stack no longer needs them. The list includes
// pods, of which the operator deletes only preflight pods.
func PrunedKinds() []schema.GroupVersionKind {
	return append(kindsWhere(func(kind ChildKind) bool { return !kind.Retained }), podKind)
}

// ExposureKinds lists the kinds that can expose a stack.
func ExposureKinds() []schema.GroupVersionKind {
	return kindsWhere(func(kind ChildKind) bool { return kind.Exposes })
}

// MetadataOnlyKinds lists the kinds for which the operator caches only metadata.
func MetadataOnlyKinds() []schema.GroupVersionKind {
	return kindsWhere(func(kind ChildKind) bool { return kind.MetadataOnly })
}

func kindsWhere(matches func(ChildKind) bool) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, kind := range childKinds {
		if matches(kind) {
			kinds = append(kinds, kind.GroupVersionKind)
		}
	}
	return kinds
}

// PreflightKinds lists the kinds of the objects that the operator creates for a preflight. The pod comes first, because
// it must be deleted before the objects that it reads.
func PreflightKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{podKind, policyKind, secretKind, configMapKind}
}

// renderer returns one child and its name. A nil child means that the stack does not have the object.
type renderer func(in Input) (name string, child runtime.ApplyConfiguration, err error)

// wholeObject is the interface of every typed apply configuration of a whole object.
type wholeObject[T any] interface {
	*T
	runtime.ApplyConfiguration
	GetName() *string
}

// render returns a renderer for a function that renders one object of a type.
func render[T any, P wholeObject[T]](build func(Input) (P, error)) renderer {
	return func(in Input) (string, runtime.ApplyConfiguration, error) {
		child, err := build(in)
		if err != nil || child == nil {
			return "", nil, err
		}
		return *child.GetName(), child, nil
	}
}
