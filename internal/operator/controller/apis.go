package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/queue"
)

const (
	// definitionPoll is the interval between two lookups of a kind whose definition exists. definitionPatience bounds the
	// duration of the lookups. The API server serves a kind shortly after its definition is created.
	definitionPoll     = 500 * time.Millisecond
	definitionPatience = time.Minute
)

// optionalKinds returns the kinds that some clusters do not serve, by the name of their CustomResourceDefinition.
func optionalKinds() map[string]schema.GroupVersionKind {
	kinds := map[string]schema.GroupVersionKind{}
	for _, kind := range render.ChildKinds() {
		if kind.Definition != "" {
			kinds[kind.Definition] = kind.GroupVersionKind
		}
	}
	return kinds
}

// OptionalDefinitions returns the names of the CustomResourceDefinitions that the controller watches.
func OptionalDefinitions() []string {
	names := slices.Concat(slices.Collect(maps.Keys(optionalKinds())), slices.Collect(maps.Keys(mirrorKinds())))
	slices.Sort(names)
	return names
}

// optionalAPIs tracks which of the optional kinds the cluster serves. It looks up the kinds when the operator starts,
// and then watches their definitions.
type optionalAPIs struct {
	cache  cache.Cache
	mapper meta.RESTMapper

	mu     sync.RWMutex
	served map[schema.GroupVersionKind]bool
	// adding serializes calls to the method watch, because the creation and a later update of a definition cause two
	// events.
	adding sync.Mutex
}

// newOptionalAPIs returns an optionalAPIs with the kinds that the cluster serves at the time of the call.
func newOptionalAPIs(ctx context.Context, optional cache.Cache, mapper meta.RESTMapper) (*optionalAPIs, error) {
	apis := &optionalAPIs{cache: optional, mapper: mapper, served: map[schema.GroupVersionKind]bool{}}
	for _, kind := range optionalKinds() {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil && !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("look for %s: %w", kind.GroupKind(), err)
		}
		if apis.served[kind] = err == nil; err != nil {
			continue
		}
		if err := apis.index(ctx, kind); err != nil {
			return nil, err
		}
	}
	return apis, nil
}

// serves reports whether the kind is served and watched.
func (a *optionalAPIs) serves(kind schema.GroupVersionKind) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.served[kind]
}

func (a *optionalAPIs) set(kind schema.GroupVersionKind, served bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.served[kind] = served
}

// has reports whether a kind is in the API group of an optional kind. The argument can also be the kind of a list.
func (a *optionalAPIs) has(kind schema.GroupVersionKind) bool {
	for _, optional := range optionalKinds() {
		if kind.Group == optional.Group {
			return true
		}
	}
	return false
}

func optionalObject(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// index adds an index that finds the objects of a kind by their stack. Call it before you fill the cache with these
// objects.
func (a *optionalAPIs) index(ctx context.Context, kind schema.GroupVersionKind) error {
	if err := a.cache.IndexField(ctx, optionalObject(kind), fieldInstance, instanceOf); err != nil {
		return fmt.Errorf("index %s by %s: %w", kind.GroupKind(), fieldInstance, err)
	}
	return nil
}

// source returns a source that watches the stacks' child objects of one kind.
func (a *optionalAPIs) source(kind schema.GroupVersionKind) source.Source {
	return source.Kind[client.Object](a.cache, optionalObject(kind), queue.ChildrenLast(byController()),
		predicate.ResourceVersionChangedPredicate{})
}

// follow watches the definitions until ctx ends. It starts and stops watches of kinds, and requeues affected stacks.
func (a *optionalAPIs) follow(
	ctx context.Context, definitions map[string]cache.Cache, c controller.Controller, requeue func(context.Context),
) error {
	for name, kind := range optionalKinds() {
		err := watchDefinition(ctx, definitions, name,
			func() { go a.comes(ctx, kind, c, requeue) }, func() { a.goes(ctx, kind, requeue) })
		if err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// watchDefinition watches a definition with definitionHandler. It does nothing for a definition without a cache.
func watchDefinition(
	ctx context.Context, definitions map[string]cache.Cache, name string, comes, goes func(),
) error {
	if definitions[name] == nil {
		return nil
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(schema.GroupVersionKind{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition",
	})
	informer, err := definitions[name].GetInformer(ctx, object)
	if err == nil {
		_, err = informer.AddEventHandler(definitionHandler(comes, goes))
	}
	if err != nil {
		return fmt.Errorf("watch definition %q: %w", name, err)
	}
	return nil
}

// definitionHandler calls the function `comes` if a new definition, or a new version in the definition, may have added
// a kind. It calls the function `goes` if the definition is being deleted or was deleted.
func definitionHandler(comes, goes func()) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { comes() },
		UpdateFunc: func(before, now any) {
			was, ok := before.(client.Object)
			is, found := now.(client.Object)
			switch {
			case !ok || !found:
			case is.GetDeletionTimestamp() != nil:
				goes()
			case was.GetGeneration() != is.GetGeneration():
				comes()
			}
		},
		DeleteFunc: func(any) { goes() },
	}
}

// comes waits until the API server serves the kind, then watches the kind and requeues the affected stacks. It logs an
// error if it cannot watch the kind.
func (a *optionalAPIs) comes(
	ctx context.Context, kind schema.GroupVersionKind, c controller.Controller, requeue func(context.Context),
) {
	if a.serves(kind) {
		return
	}
	logger := log.FromContext(ctx)
	err := awaitKind(ctx, a.mapper, kind)
	if err == nil {
		err = a.watch(ctx, kind, c)
	}
	if err != nil {
		if ctx.Err() == nil {
			logger.Error(err, "The operator cannot watch a kind that was added", "kind", kind.GroupKind().String())
		}
		return
	}
	logger.Info("The cluster now serves a kind that exposes stacks", "kind", kind.GroupKind().String())
	requeue(ctx)
}

// awaitKind waits until the API server serves a kind whose definition was added. After definitionPatience, it returns
// an error.
func awaitKind(ctx context.Context, mapper meta.RESTMapper, kind schema.GroupVersionKind) error {
	return wait.PollUntilContextTimeout(ctx, definitionPoll, definitionPatience, true,
		func(context.Context) (bool, error) {
			_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
			return err == nil, nil
		})
}

// watch fills the cache with the objects of a kind and adds a watch for the controller, unless the kind is already
// watched.
func (a *optionalAPIs) watch(ctx context.Context, kind schema.GroupVersionKind, c controller.Controller) error {
	a.adding.Lock()
	defer a.adding.Unlock()
	if a.serves(kind) {
		return nil
	}
	if err := a.index(ctx, kind); err != nil {
		return err
	}
	_, err := a.cache.GetInformer(ctx, optionalObject(kind)) // GetInformer returns after the cache is filled
	if err == nil {
		err = c.Watch(a.source(kind))
	}
	if err != nil {
		// The kind may be added again, and an index cannot be added twice to an informer.
		return errors.Join(err, a.cache.RemoveInformer(ctx, optionalObject(kind)))
	}
	a.set(kind, true)
	return nil
}

// goes stops the watch of a kind whose definition is being deleted or was deleted, and requeues the affected stacks.
func (a *optionalAPIs) goes(ctx context.Context, kind schema.GroupVersionKind, requeue func(context.Context)) {
	if !a.serves(kind) {
		return
	}
	a.set(kind, false)
	if err := a.cache.RemoveInformer(ctx, optionalObject(kind)); err != nil {
		log.FromContext(ctx).Error(err, "The operator cannot stop watching a kind that was removed", "kind", kind.GroupKind().String())
	}
	go requeue(ctx)
}

// childCache reads each kind from the cache that contains it. It reads a child that a cache does not hold whole from
// the API server. Lists contain stubs of such children.
type childCache struct {
	client.Reader

	apis   *optionalAPIs
	direct client.Reader
}

// Get reads a whole object.
func (c childCache) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	cached := c.Reader
	if c.apis.has(object.GetObjectKind().GroupVersionKind()) {
		cached = c.apis.cache
	}
	return stub.Reader{Reader: cached, Direct: c.direct}.Get(ctx, key, object, options...)
}

// List reads objects.
func (c childCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if c.apis.has(list.GetObjectKind().GroupVersionKind()) {
		return indexedCache{c.apis.cache}.List(ctx, list, options...)
	}
	return c.Reader.List(ctx, list, options...)
}
