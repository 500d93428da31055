package manager

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/informer"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// cacheOptions limits the caches to the objects that the operator uses. Children are selected by their label.
// ReplicaSets are selected by the label that every stack's selector contains. Pods are selected by the same label or by
// the label of preflights. Events are limited to those about PersistentVolumeClaims. Only the metadata of ConfigMaps
// and Secrets is cached. A read of a kind that is not watched fails and does not start a watch (decision 0016).
//
// Anyone can set these labels, and can make an object long. The transforms therefore keep only what the operator reads,
// and bound its length. No cached object is written back to the API server, so nothing is lost there.
func cacheOptions(namespaces []string) cache.Options {
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
		case kind.Definition != "": // see optionalOptions
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

// operatorConfigOptions limits a cache to one complete object, the operator's ConfigMap.
func operatorConfigOptions(namespace string) cache.Options {
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

// addOperatorConfig adds a cache for the operator's ConfigMap. Every replica fills the cache, because its webhooks read
// it.
func addOperatorConfig(
	ctx context.Context, mgr ctrl.Manager, config *rest.Config, namespace string,
) (cache.Cache, error) {
	found, err := addCache(mgr, config, "the operator's ConfigMap", operatorConfigOptions(namespace))
	if err != nil {
		return nil, err
	}
	if _, err := found.GetInformer(ctx, &corev1.ConfigMap{}, cache.BlockUntilSynced(false)); err != nil {
		return nil, fmt.Errorf("watch the operator's ConfigMap: %w", err)
	}
	return found, nil
}

// everyReplica is a cache that every replica fills, so that a new leader does not have to wait for the cache.
type everyReplica struct{ cache.Cache }

// NeedLeaderElection returns false. Caches that are limited to some namespaces or objects do not implement this method.
func (everyReplica) NeedLeaderElection() bool { return false }

// addCache adds a separate cache to the manager.
func addCache(mgr ctrl.Manager, config *rest.Config, what string, options cache.Options) (cache.Cache, error) {
	options.NewInformer = informer.New
	options.HTTPClient, options.Scheme, options.Mapper = mgr.GetHTTPClient(), mgr.GetScheme(), mgr.GetRESTMapper()
	found, err := cache.New(config, options)
	if err != nil {
		return nil, fmt.Errorf("create a cache for %s: %w", what, err)
	}
	if err := mgr.Add(everyReplica{found}); err != nil {
		return nil, fmt.Errorf("add the cache for %s: %w", what, err)
	}
	return found, nil
}
