package caches

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/mirror"
)

// mirrorKinds returns the kinds of mirror sets by the names of their definitions. Some clusters do not serve these
// kinds.
func mirrorKinds() map[string]schema.GroupVersionKind {
	return map[string]schema.GroupVersionKind{
		"imagedigestmirrorsets.config.openshift.io": {Group: "config.openshift.io", Version: "v1", Kind: mirror.KindDigest},
		"imagetagmirrorsets.config.openshift.io": {
			Group: "config.openshift.io", Version: "v1",
			Kind: mirror.KindTag,
		},
		"imagecontentsourcepolicies.operator.openshift.io": {Group: "operator.openshift.io", Version: "v1alpha1", Kind: mirror.KindPolicy},
	}
}

// mirrorsPatience is the time that the operator waits for the first list of the mirror sets before it logs a message.
const mirrorsPatience = 30 * time.Second

// MirrorSets watches the mirror sets of the cluster. For a kind that is not served, it watches only the definition.
type MirrorSets struct {
	cache  cache.Cache
	mapper meta.RESTMapper
	tell   func(mirror.Set)
	log    logr.Logger

	// known is closed after the first call to `tell`. The channel `changed` receives a value when the mirrors may have
	// changed.
	known   chan struct{}
	changed chan struct{}

	mu     sync.Mutex
	served map[schema.GroupVersionKind]bool
}

// NewMirrorSets returns mirror sets that pass the mirrors to `tell`.
func NewMirrorSets(sets cache.Cache, mapper meta.RESTMapper, tell func(mirror.Set), log logr.Logger) *MirrorSets {
	return &MirrorSets{
		cache: sets, mapper: mapper, tell: tell, log: log,
		known: make(chan struct{}), changed: make(chan struct{}, 1), served: map[schema.GroupVersionKind]bool{},
	}
}

// Before returns a worker that starts when the mirrors are known, so that no request goes to a mirrored source.
func (m *MirrorSets) Before(worker manager.Runnable) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		late := time.NewTimer(mirrorsPatience)
		defer late.Stop()
		for {
			select {
			case <-m.known:
				return worker.Start(ctx)
			case <-late.C:
				m.log.Info("The operator has not listed the mirror sets in the cluster yet, and does not read images before " +
					"it lists the mirror sets; check that the operator has permission to list and watch mirror sets")
			case <-ctx.Done():
				return nil
			}
		}
	})
}

// Follow passes the existing mirrors and each change to `tell`, until ctx ends.
func (m *MirrorSets) Follow(ctx context.Context, definitions map[string]cache.Cache) error {
	if !m.watchServed(ctx) {
		return nil
	}
	if err := m.read(ctx); err != nil {
		return err
	}
	close(m.known)
	if err := m.followDefinitions(ctx, definitions); err != nil {
		return err
	}
	for {
		select {
		case <-m.changed:
			if err := m.read(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// watchServed watches the kinds that the cluster serves, and retries until it succeeds. It returns false if ctx ends
// first.
func (m *MirrorSets) watchServed(ctx context.Context) bool {
	for _, kind := range mirrorKinds() {
		err := wait.PollUntilContextCancel(ctx, definitionPoll, true, func(context.Context) (bool, error) {
			_, err := m.mapper.RESTMapping(kind.GroupKind(), kind.Version)
			if meta.IsNoMatchError(err) {
				return true, nil
			}
			if err == nil {
				err = m.watch(ctx, kind)
			}
			return err == nil, nil
		})
		if err != nil {
			return false
		}
	}
	return true
}

// followDefinitions watches the definitions of the kinds, so that a kind can be added or removed later.
func (m *MirrorSets) followDefinitions(ctx context.Context, definitions map[string]cache.Cache) error {
	for name, kind := range mirrorKinds() {
		err := watchDefinition(ctx, definitions, name, func() { go m.comes(ctx, kind) }, func() { m.goes(ctx, kind) })
		if err != nil {
			return err
		}
	}
	return nil
}

// comes waits until the kind is served, and then watches it.
func (m *MirrorSets) comes(ctx context.Context, kind schema.GroupVersionKind) {
	err := awaitKind(ctx, m.mapper, kind)
	if err == nil {
		err = m.watch(ctx, kind)
	}
	if err != nil && ctx.Err() == nil {
		m.log.Error(err, "The operator cannot watch a kind of mirror set that was added to the cluster", "kind", kind.GroupKind().String())
	}
}

// goes stops the watch for a kind that was removed.
func (m *MirrorSets) goes(ctx context.Context, kind schema.GroupVersionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.served[kind] {
		return
	}
	delete(m.served, kind)
	if err := m.cache.RemoveInformer(ctx, object(kind)); err != nil {
		m.log.Error(err, "The operator cannot stop watching mirror sets of a kind that was removed", "kind", kind.GroupKind().String())
	}
	m.change()
}

// watch fills the cache with the mirror sets of a kind, unless the kind is already watched.
func (m *MirrorSets) watch(ctx context.Context, kind schema.GroupVersionKind) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.served[kind] {
		return nil
	}
	informer, err := m.cache.GetInformer(ctx, object(kind)) // GetInformer returns after the cache is filled
	if err == nil {
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { m.change() }, UpdateFunc: func(any, any) { m.change() }, DeleteFunc: func(any) { m.change() },
		})
	}
	if err != nil {
		return fmt.Errorf("watch %s: %w", kind.GroupKind(), err)
	}
	m.served[kind] = true
	m.change()
	return nil
}

// change causes another read of the mirror sets.
func (m *MirrorSets) change() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// read reads the mirror sets and passes their mirrors to `tell`.
func (m *MirrorSets) read(ctx context.Context) error {
	objects, err := m.list(ctx)
	if err != nil {
		return err
	}
	set, ignored := mirror.Read(objects)
	if len(objects) > 0 {
		m.log.Info("Read the mirror sets in the cluster", "objects", len(objects), "sources", len(set), "ignored", ignored)
	}
	m.tell(slices.Clip(set))
	return nil
}

// list returns the mirror sets of the served kinds.
func (m *MirrorSets) list(ctx context.Context) ([]mirror.Object, error) {
	m.mu.Lock()
	kinds := slices.Collect(maps.Keys(m.served))
	m.mu.Unlock()
	var objects []mirror.Object
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := m.cache.List(ctx, list); err != nil {
			m.log.V(1).Info("Mirror sets cannot be listed", "kind", kind.GroupKind().String(), "error", err.Error())
			continue // the kind was removed after the served kinds were read
		}
		for i := range list.Items {
			spec, err := json.Marshal(list.Items[i].Object["spec"])
			if err != nil {
				return nil, fmt.Errorf("read %s %q: %w", kind.Kind, list.Items[i].GetName(), err)
			}
			objects = append(objects, mirror.Object{Kind: kind.Kind, Name: list.Items[i].GetName(), Spec: spec})
		}
	}
	return objects, nil
}
