package caches

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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
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

// APIs tracks which of the optional kinds the cluster serves. It looks up the kinds when the operator starts,
// and then watches their definitions.
type APIs struct {
	cache    cache.Cache
	mapper   meta.RESTMapper
	children handler.EventHandler

	mu     sync.RWMutex
	served map[schema.GroupVersionKind]bool
	// adding serializes calls to the method watch, because the creation and a later update of a definition cause two
	// events.
	adding sync.Mutex
}

// NewAPIs returns the kinds that the cluster serves at the time of the call. The handler receives the events of objects
// of these kinds.
func NewAPIs(
	ctx context.Context, optional cache.Cache, mapper meta.RESTMapper, children handler.EventHandler,
) (*APIs, error) {
	apis := &APIs{cache: optional, mapper: mapper, children: children, served: map[schema.GroupVersionKind]bool{}}
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

// Serves reports whether the kind is served and watched.
func (a *APIs) Serves(kind schema.GroupVersionKind) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.served[kind]
}

func (a *APIs) set(kind schema.GroupVersionKind, served bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.served[kind] = served
}

// Get reads an object of an optional kind from the cache. It returns nil if the cluster does not serve the kind, or if
// there is no such object.
func (a *APIs) Get(
	ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey,
) (*unstructured.Unstructured, error) {
	if !a.Serves(kind) {
		return nil, nil
	}
	found := object(kind)
	if err := a.cache.Get(ctx, key, found); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return found, nil
}

// List returns the cached objects of an optional kind. Callers must not change them. It returns none if the cluster
// does not serve the kind.
func (a *APIs) List(ctx context.Context, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	if !a.Serves(kind) {
		return nil, nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := a.cache.List(ctx, list, client.UnsafeDisableDeepCopy)
	return list.Items, err
}

// Has reports whether a kind is in the API group of an optional kind. The argument can also be the kind of a list.
func (a *APIs) Has(kind schema.GroupVersionKind) bool {
	for _, optional := range optionalKinds() {
		if kind.Group == optional.Group {
			return true
		}
	}
	return false
}

// object returns an empty object of a kind.
func object(kind schema.GroupVersionKind) *unstructured.Unstructured {
	empty := &unstructured.Unstructured{}
	empty.SetGroupVersionKind(kind)
	return empty
}

// index adds an index that finds the objects of a kind by their stack. Call it before you fill the cache with these
// objects.
func (a *APIs) index(ctx context.Context, kind schema.GroupVersionKind) error {
	if err := a.cache.IndexField(ctx, object(kind), fieldInstance, instanceOf); err != nil {
		return fmt.Errorf("index %s by %s: %w", kind.GroupKind(), fieldInstance, err)
	}
	return nil
}

// Source returns a source that watches the stacks' child objects of one kind.
func (a *APIs) Source(kind schema.GroupVersionKind) source.Source {
	return source.Kind[client.Object](a.cache, object(kind), a.children,
		predicate.ResourceVersionChangedPredicate{})
}

// Follow watches the definitions until ctx ends. It starts and stops watches of kinds, and requeues affected stacks.
func (a *APIs) Follow(
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
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(schema.GroupVersionKind{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition",
	})
	informer, err := definitions[name].GetInformer(ctx, definition)
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
func (a *APIs) comes(
	ctx context.Context, kind schema.GroupVersionKind, c controller.Controller, requeue func(context.Context),
) {
	if a.Serves(kind) {
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
func (a *APIs) watch(ctx context.Context, kind schema.GroupVersionKind, c controller.Controller) error {
	a.adding.Lock()
	defer a.adding.Unlock()
	if a.Serves(kind) {
		return nil
	}
	if err := a.index(ctx, kind); err != nil {
		return err
	}
	_, err := a.cache.GetInformer(ctx, object(kind)) // GetInformer returns after the cache is filled
	if err == nil {
		err = c.Watch(a.Source(kind))
	}
	if err != nil {
		// The kind may be added again, and an index cannot be added twice to an informer.
		return errors.Join(err, a.cache.RemoveInformer(ctx, object(kind)))
	}
	a.set(kind, true)
	return nil
}

// goes stops the watch of a kind whose definition is being deleted or was deleted, and requeues the affected stacks.
func (a *APIs) goes(ctx context.Context, kind schema.GroupVersionKind, requeue func(context.Context)) {
	if !a.Serves(kind) {
		return
	}
	a.set(kind, false)
	if err := a.cache.RemoveInformer(ctx, object(kind)); err != nil {
		log.FromContext(ctx).Error(err, "The operator cannot stop watching a kind that was removed", "kind", kind.GroupKind().String())
	}
	go requeue(ctx)
}

// Children reads each kind from the cache that contains it. It reads a child that a cache does not hold whole from
// the API server. Lists contain stubs of such children.
type Children struct {
	client.Reader

	APIs   *APIs
	Direct client.Reader
}

// Get reads a whole object.
func (c Children) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	cached := c.Reader
	if c.APIs.Has(object.GetObjectKind().GroupVersionKind()) {
		cached = c.APIs.cache
	}
	return stub.Reader{Reader: cached, Direct: c.Direct}.Get(ctx, key, object, options...)
}

// List reads objects.
func (c Children) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if c.APIs.Has(list.GetObjectKind().GroupVersionKind()) {
		return Indexed{c.APIs.cache}.List(ctx, list, options...)
	}
	return c.Reader.List(ctx, list, options...)
}
