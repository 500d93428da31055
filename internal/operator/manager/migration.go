package manager

import (
	"fmt"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration/watcher"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
)

const definitionKind = "CustomResourceDefinition"

// addDefinition adds a cache for the metadata of the definition of stacks. It returns nil for an operator without
// webhooks, which does not need it, and for one that is limited to some namespaces, which cannot read it.
func addDefinition(mgr ctrl.Manager, config *rest.Config, options Options) (cache.Informers, error) {
	if options.WebhookBindAddress == notServed || len(options.WatchNamespaces) > 0 {
		return nil, nil //nolint:nilnil // see above
	}
	return addCache(mgr, config, "the CustomResourceDefinition of stacks",
		caches.DefinitionOptions(names.CustomResourceDefinition))
}

// addMigration adds the leader's task to store every stack in the storage version of the definition. The task needs the
// conversion webhook.
func addMigration(mgr ctrl.Manager, definition cache.Informers, direct client.Client, options Options) error {
	if options.WebhookBindAddress == notServed {
		return nil
	}
	migration := watcher.New(watcher.Options{
		Client: direct, Informers: definition,
		Definition: names.CustomResourceDefinition,
	})
	if err := mgr.Add(migration); err != nil {
		return fmt.Errorf("add the migration of stored stacks: %w", err)
	}
	return nil
}
