package manager

import (
	"context"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

var otherInstallation = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "llama_stack_operator_other_installation",
	Help: "1 while this operator changes nothing, because the CustomResourceDefinition names another installation.",
}, []string{"installation"})

func init() {
	metrics.Registry.MustRegister(otherInstallation)
}

// installation finds out which installation of the operator manages the stacks of the cluster. Each installation has
// its own lease, so two of them would write to the same stacks. The CustomResourceDefinition names the Service of one
// installation, which converts stacks. Any other installation pauses.
type installation struct {
	reader    client.Reader // without a cache
	namespace string

	// mu is held during a read of the definition, so that an older answer never replaces a newer one.
	mu sync.Mutex
	// other is the namespace of the installation that the definition names, if that is another one. The field known is
	// false if the definition must be read.
	other string
	known bool
}

// addInstallation adds a watch of the definition to the manager.
func addInstallation(
	mgr ctrl.Manager, direct client.Reader, definition cache.Informers, namespace string,
) (*installation, error) {
	found := &installation{reader: direct, namespace: namespace}
	err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return found.follow(ctx, definition) }))
	if err != nil {
		return nil, fmt.Errorf("add the watch for another installation: %w", err)
	}
	return found, nil
}

// follow reads the definition after each of its changes, until ctx ends.
func (i *installation) follow(ctx context.Context, definition cache.Informers) error {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind(definitionKind))
	informer, err := definition.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	changed := func() {
		i.mu.Lock()
		i.known = false
		i.mu.Unlock()
		if _, err := i.Other(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).V(1).Info("The CustomResourceDefinition cannot be read", "error", err.Error())
		}
	}
	if err == nil {
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
		})
	}
	if err != nil {
		return fmt.Errorf("watch the CustomResourceDefinition: %w", err)
	}
	<-ctx.Done()
	return nil
}

// Other returns the namespace of the installation that manages the stacks instead of this one. It is empty if this
// operator manages them. Other reads the definition only before its first change is observed, and after a failure.
func (i *installation) Other(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known {
		return i.other, nil
	}
	var definition apiextensionsv1.CustomResourceDefinition
	err := i.reader.Get(ctx, client.ObjectKey{Name: names.CustomResourceDefinition}, &definition)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return "", fmt.Errorf("read CustomResourceDefinition %q: %w", names.CustomResourceDefinition, err)
	}
	other := migration.WebhookNamespace(&definition)
	if other == i.namespace {
		other = ""
	}
	i.known = true
	if other == i.other {
		return other, nil
	}
	i.other = other
	otherInstallation.Reset()
	if other != "" {
		otherInstallation.WithLabelValues(other).Set(1)
		log.FromContext(ctx).Info("This operator changes nothing, because the CustomResourceDefinition names the "+
			"installation of the operator in another namespace; remove one of the installations",
			"installation", other, "namespace", i.namespace)
	}
	return other, nil
}
