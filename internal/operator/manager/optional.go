package manager

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
)

// optionalOptions limits a cache to children, with their managed fields. It is for kinds that some clusters do not
// serve.
func optionalOptions(namespaces []string) cache.Options {
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultLabelSelector:        labels.SelectorFromSet(labels.Set{names.LabelManagedBy: names.ManagedBy}),
		DefaultNamespaces:           inNamespaces(namespaces),
		DefaultTransform:            stub.Reduce,
	}
}

// definitionOptions limits a cache to the metadata of one CustomResourceDefinition.
func definitionOptions(name string) cache.Options {
	return cache.Options{
		DefaultTransform:     stripMetadata,
		DefaultFieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name),
	}
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
	optional, err := addCache(mgr, config, "optional kinds", optionalOptions(namespaces))
	if err != nil || len(namespaces) > 0 {
		return optional, nil, err
	}
	definitions := map[string]cache.Cache{}
	for _, name := range caches.OptionalDefinitions() {
		if definitions[name], err = addCache(mgr, config, "definition "+name, definitionOptions(name)); err != nil {
			return nil, nil, err
		}
	}
	return optional, definitions, nil
}
