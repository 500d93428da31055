package manager

import (
	"context"
	"fmt"
	"slices"

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

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/controller"
	"github.com/llamastack/llama-stack-k8s-operator/internal/informer"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// cacheOptions limits the caches to the objects that the operator uses. Children are selected by their label.
// ReplicaSets are selected by the label that every stack's selector contains. Pods are selected by the same label or by
// the label of preflights. Events are limited to those about PersistentVolumeClaims. Only the metadata of ConfigMaps
// and Secrets is cached. For those that are not children, only the name and version are cached. A read of a kind that
// is not watched fails and does not start a watch (decision 0016).
func cacheOptions(namespaces []string) cache.Options {
	workload := cache.ByObject{
		Label:     labels.SelectorFromSet(labels.Set{names.LabelApp: names.App}),
		Transform: stripWorkload,
	}
	pods := cache.ByObject{Label: oneOf(names.LabelApp, names.App, names.PreflightApp), Transform: stripWorkload}
	ofClaims := cache.ByObject{Field: fields.OneTermEqualSelector("involvedObject.kind", "PersistentVolumeClaim")}
	byObject := childCaches()
	byObject[&appsv1.ReplicaSet{}], byObject[&corev1.Pod{}], byObject[&corev1.Event{}] = workload, pods, ofClaims
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		NewInformer:                 informer.New,
		DefaultNamespaces:           inNamespaces(namespaces),
		// DefaultTransform transforms stacks. ByObject must not contain their kind, because its definition may be created
		// later.
		DefaultTransform: stripStack,
		ByObject:         byObject,
	}
}

// childCaches returns the limits for every kind of child that every cluster serves.
func childCaches() map[client.Object]cache.ByObject {
	children := cache.ByObject{
		Label:     labels.SelectorFromSet(labels.Set{names.LabelManagedBy: names.ManagedBy}),
		Transform: apply.NewSharedFields().Transform,
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

// stripStack removes the parts of stacks that the operator does not use: the copy of the last applied manifest, a spec
// that is too large to be processed, and the managed fields unless an operator for v1alpha1 wrote the status.
func stripStack(object any) (any, error) {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	if !ok {
		return cache.TransformStripManagedFields()(object)
	}
	stack.ManagedFields = controller.OtherStatusWrites(stack.ManagedFields)
	delete(stack.Annotations, corev1.LastAppliedConfigAnnotation)
	validate.OmitLargeSpec(stack)
	return stack, nil
}

// stripWorkload keeps the parts of pods that the status depends on, and the references from ReplicaSets to other
// objects.
func stripWorkload(object any) (any, error) {
	switch object := object.(type) {
	case *corev1.Pod:
		object.ManagedFields = nil
		object.Spec = corev1.PodSpec{NodeName: object.Spec.NodeName, InitContainers: installers(object.Spec.InitContainers)}
	case *appsv1.ReplicaSet:
		object.ManagedFields = nil
		object.Spec.Template.Spec = needs(&object.Spec.Template.Spec)
	}
	return object, nil
}

// installers returns the names and images of the init containers of a pod with external providers, and nil for any
// other pod.
func installers(all []corev1.Container) []corev1.Container {
	if !slices.ContainsFunc(all, func(c corev1.Container) bool { return c.Name == names.ExternalContainer }) {
		return nil
	}
	var kept []corev1.Container
	for i := range all {
		kept = append(kept, corev1.Container{Name: all[i].Name, Image: all[i].Image})
	}
	return kept
}

// needs returns the part of a pod template that refers to other objects.
func needs(pod *corev1.PodSpec) corev1.PodSpec {
	stripped := corev1.PodSpec{Volumes: pod.Volumes, ServiceAccountName: pod.ServiceAccountName}
	for i := range pod.Containers {
		container := corev1.Container{Name: pod.Containers[i].Name}
		for _, variable := range pod.Containers[i].Env {
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
				container.Env = append(container.Env, variable)
			}
		}
		stripped.Containers = append(stripped.Containers, container)
	}
	return stripped
}

// For children, stripMetadata keeps the metadata that the cleanup needs. For other objects, stripMetadata keeps only
// the identity and the version.
func stripMetadata(object any) (any, error) {
	if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
		metadata.ManagedFields = nil
		metadata.Annotations = nil
		if metadata.Labels[names.LabelManagedBy] != names.ManagedBy {
			metadata.Labels = nil
			metadata.OwnerReferences = nil
			metadata.Finalizers = nil
		}
	}
	return object, nil
}
