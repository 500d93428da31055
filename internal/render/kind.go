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

// ChildKind is a kind of object that a stack may have. It says everything that the operator treats differently by kind.
type ChildKind struct {
	schema.GroupVersionKind
	// New makes an empty object of its Go type. Nil: the kind has a Definition, and is handled without its type.
	New func() Child
	// Definition is the name of the CustomResourceDefinition that brings a kind which a cluster need not serve. Empty:
	// it is one of Kubernetes' own.
	Definition string
	// MetadataOnly kinds are cached without their content: there may be many large ones that are nobody's child.
	MetadataOnly bool
	// IgnoreStatus says that a change of the status of such a child requeues no stack.
	IgnoreStatus bool
	// Exposes says that such a child is a way to reach the stack from outside the cluster.
	Exposes bool
	// Retained children are not deleted when the stack no longer wants them: data goes with the stack only.
	Retained bool

	renderers []renderer
}

// Child is what every object of Kubernetes offers.
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

// childKinds are in the order in which their objects are applied: what a pod needs to start and who may connect to it, then
// the Deployment, then what points at its pods. The Secret comes with derived values and so by StorageSecret.
//
// The table drives what is rendered, watched, cached, indexed and pruned. Beside a row here a new kind needs a right: a
// marker in internal/controller/rbac.go, to which a test holds this table.
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
	{GroupVersionKind: serviceKind, New: func() Child { return &corev1.Service{} }, renderers: []renderer{render(service)}},
	{
		GroupVersionKind: ingressKind, New: func() Child { return &networkingv1.Ingress{} }, Exposes: true,
		renderers: []renderer{render(ingress)},
	},
	{
		GroupVersionKind: RouteKind, Definition: "routes.route.openshift.io", Exposes: true,
		renderers: []renderer{render(route)},
	},
	{ // before what sends traffic by it
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
		GroupVersionKind: autoscalerKind, New: func() Child { return &autoscalingv2.HorizontalPodAutoscaler{} }, IgnoreStatus: true,
		renderers: []renderer{render(horizontalPodAutoscaler)},
	},
}

// ChildKinds lists every kind of object that a stack may have, in apply order. The list is not to be changed.
func ChildKinds() []ChildKind { return childKinds }

// Kinds lists the same as group, version and kind.
func Kinds() []schema.GroupVersionKind {
	return kindsWhere(func(ChildKind) bool { return true })
}

// PrunedKinds lists the kinds whose objects are deleted once a stack no longer wants them. Of pods it is those in which a
// change was tried.
func PrunedKinds() []schema.GroupVersionKind {
	return append(kindsWhere(func(kind ChildKind) bool { return !kind.Retained }), podKind)
}

// ExposureKinds lists the kinds by which a stack may be exposed.
func ExposureKinds() []schema.GroupVersionKind {
	return kindsWhere(func(kind ChildKind) bool { return kind.Exposes })
}

// MetadataOnlyKinds lists the kinds of which only metadata is cached.
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

// PreflightKinds lists the kinds of what a change is tried with, the pod first: it is to go before what it reads.
func PreflightKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{podKind, policyKind, secretKind, configMapKind}
}

// renderer makes one child and its name. A nil child should not exist.
type renderer func(in Input) (name string, child runtime.ApplyConfiguration, err error)

// wholeObject is what every typed apply configuration of a whole object offers.
type wholeObject[T any] interface {
	*T
	runtime.ApplyConfiguration
	GetName() *string
}

// render wraps the function that renders one object of a type.
func render[T any, P wholeObject[T]](build func(Input) (P, error)) renderer {
	return func(in Input) (string, runtime.ApplyConfiguration, error) {
		child, err := build(in)
		if err != nil || child == nil {
			return "", nil, err
		}
		return *child.GetName(), child, nil
	}
}
