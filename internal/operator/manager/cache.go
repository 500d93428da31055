package manager

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/informer"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
)

// addOperatorConfig adds a cache for the operator's ConfigMap. Every replica fills the cache, because its webhooks read
// it.
func addOperatorConfig(
	ctx context.Context, mgr ctrl.Manager, config *rest.Config, namespace string,
) (cache.Cache, error) {
	found, err := addCache(mgr, config, "the operator's ConfigMap", caches.OperatorConfigOptions(namespace))
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

// addMirrorSets adds a cache for the mirror sets of the cluster. An operator that is limited to some namespaces cannot
// read them.
func addMirrorSets(mgr ctrl.Manager, config *rest.Config, namespaces []string) (cache.Cache, error) {
	if len(namespaces) > 0 {
		return nil, nil //nolint:nilnil // mirror sets are cluster-scoped
	}
	return addCache(mgr, config, "mirror sets", cache.Options{
		ReaderFailOnMissingInformer: true, DefaultTransform: cache.TransformStripManagedFields(),
	})
}

// addOptional adds a cache for the kinds that some clusters do not serve. It adds caches for the definitions of these
// kinds if the operator may read definitions.
func addOptional(
	mgr ctrl.Manager, config *rest.Config, namespaces []string,
) (cache.Cache, map[string]cache.Cache, error) {
	optional, err := addCache(mgr, config, "optional kinds", caches.OptionalOptions(namespaces))
	if err != nil || len(namespaces) > 0 {
		return optional, nil, err
	}
	definitions := map[string]cache.Cache{}
	for _, name := range caches.OptionalDefinitions() {
		if definitions[name], err = addCache(mgr, config, "definition "+name, caches.DefinitionOptions(name)); err != nil {
			return nil, nil, err
		}
	}
	return optional, definitions, nil
}
