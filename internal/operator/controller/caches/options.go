package caches

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/informer"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// Options limits the caches to the objects that the operator uses. Children are selected by their label.
// ReplicaSets are selected by the label that every stack's selector contains. Pods are selected by the same label or by
// the label of preflights. Events are limited to those about PersistentVolumeClaims. Only the metadata of ConfigMaps
// and Secrets is cached. A read of a kind that is not watched fails and does not start a watch (decision 0016).
//
// Anyone can set these labels, and can make an object long. The transforms therefore keep only what the operator reads,
// and bound its length. No cached object is written back to the API server, so nothing is lost there.
func Options(namespaces []string) cache.Options {
	workload := cache.ByObject{
		Label:     labels.SelectorFromSet(labels.Set{names.LabelApp: names.App}),
		Transform: stripReplicaSet,
	}
	pods := cache.ByObject{Label: oneOf(names.LabelApp, names.App, names.PreflightApp), Transform: stripPod}
	ofClaims := cache.ByObject{
		Field:     fields.OneTermEqualSelector("involvedObject.kind", "PersistentVolumeClaim"),
		Transform: stripEvent,
	}
	byObject := childCaches()
	byObject[&appsv1.ReplicaSet{}], byObject[&corev1.Pod{}], byObject[&corev1.Event{}] = workload, pods, ofClaims
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		NewInformer:                 informer.New,
		DefaultNamespaces:           inNamespaces(namespaces),
		// DefaultTransform transforms stacks. ByObject must not contain their kind, because its definition may be created
		// later.
		DefaultTransform: stub.ReduceStack,
		ByObject:         byObject,
	}
}

// childCaches returns the limits for every kind of child that every cluster serves.
func childCaches() map[client.Object]cache.ByObject {
	children := cache.ByObject{
		Label:     labels.SelectorFromSet(labels.Set{names.LabelManagedBy: names.ManagedBy}),
		Transform: reduceChild(apply.NewSharedFields()),
	}
	byObject := map[client.Object]cache.ByObject{}
	for _, kind := range render.ChildKinds() {
		switch {
		case kind.Definition != "": // see OptionalOptions
		case kind.MetadataOnly:
			byObject[kind.New()] = cache.ByObject{Transform: stripMetadata}
		default:
			byObject[kind.New()] = children
		}
	}
	return byObject
}

// reduceChild keeps a small child whole, with shared managed fields. It keeps only a stub of any other object.
func reduceChild(fields apply.SharedFields) func(any) (any, error) {
	return func(object any) (any, error) {
		reduced, err := stub.Reduce(object)
		if err != nil {
			return nil, err
		}
		return fields.Transform(reduced)
	}
}

// inNamespaces returns the namespaces of a cache. Nil means all namespaces.
func inNamespaces(namespaces []string) map[string]cache.Config {
	if len(namespaces) == 0 {
		return nil
	}
	configs := make(map[string]cache.Config, len(namespaces))
	for _, namespace := range namespaces {
		configs[namespace] = cache.Config{}
	}
	return configs
}

// oneOf returns a selector for objects whose label has one of the values.
func oneOf(label string, values ...string) labels.Selector {
	requirement, err := labels.NewRequirement(label, selection.In, values)
	if err != nil { // never happens, because the names are constants
		panic(err)
	}
	return labels.NewSelector().Add(*requirement)
}

// OperatorConfigOptions limits a cache to one complete object, the operator's ConfigMap.
func OperatorConfigOptions(namespace string) cache.Options {
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {
				Namespaces: map[string]cache.Config{namespace: {}},
				Field:      fields.OneTermEqualSelector(metav1.ObjectNameField, names.OperatorConfigMap),
			},
		},
	}
}

// OptionalOptions limits a cache to children, with their managed fields. It is for kinds that some clusters do not
// serve.
func OptionalOptions(namespaces []string) cache.Options {
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultLabelSelector:        labels.SelectorFromSet(labels.Set{names.LabelManagedBy: names.ManagedBy}),
		DefaultNamespaces:           inNamespaces(namespaces),
		DefaultTransform:            stub.Reduce,
	}
}

// DefinitionOptions limits a cache to the metadata of one CustomResourceDefinition.
func DefinitionOptions(name string) cache.Options {
	return cache.Options{
		DefaultTransform:     stripMetadata,
		DefaultFieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name),
	}
}
