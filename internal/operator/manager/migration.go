package manager

import (
	"fmt"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration/watcher"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// addMigration adds the leader's task to store every stack in the storage version of the definition. The task needs the
// conversion webhook. An operator that is limited to some namespaces can read neither the definition nor the stacks in
// other namespaces.
func addMigration(mgr ctrl.Manager, config *rest.Config, direct client.Client, options Options) error {
	if options.WebhookBindAddress == notServed {
		return nil
	}
	var definition cache.Informers
	if len(options.WatchNamespaces) == 0 {
		found, err := addCache(mgr, config, "the CustomResourceDefinition of stacks",
			definitionOptions(names.CustomResourceDefinition))
		if err != nil {
			return err
		}
		definition = found
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
