package watch

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/hosts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/queue"
)

// Stacks requeues the stacks that an event affects.
type Stacks struct {
	Hosts      *hosts.Hosts
	References *References
	cache      client.Reader
	settings   *resolve.OperatorConfig
	recorder   events.EventRecorder
	// add adds a request to the queue of the controller.
	add func(reconcile.Request)
	// news receives the stacks that workers requeue.
	news chan ctrlevent.GenericEvent
}

// New returns a Stacks that finds the stacks in an indexed cache.
func New(
	cache client.Reader, apis *caches.APIs, settings *resolve.OperatorConfig, recorder events.EventRecorder,
	openShift bool,
) *Stacks {
	return &Stacks{
		Hosts: hosts.New(cache, apis, settings, openShift), References: newReferences(),
		cache: cache, settings: settings, recorder: recorder, news: make(chan ctrlevent.GenericEvent),
	}
}

// Options configures a controller.
type Options struct {
	// OperatorConfig caches the ConfigMap of the operator.
	OperatorConfig cache.Cache
	APIs           *caches.APIs
	Concurrency    int
	RateLimiter    workqueue.TypedRateLimiter[reconcile.Request]
}

// Build builds the controller with all watches.
func (s *Stacks) Build(mgr ctrl.Manager, r reconcile.Reconciler, options Options) (controller.Controller, error) {
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	built := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha2.LlamaStackDistribution{}, builder.WithPredicates(predicate.Or(ourChange(), statusLost()))).
		Watches(&appsv1.ReplicaSet{}, byInstance(), changed).
		Watches(&corev1.Pod{}, byInstance(), changed).
		Watches(&corev1.Event{}, byClaim(), changed).
		Watches(&v1alpha2.LlamaStackDistribution{}, s.byHostname()).
		Watches(&v1alpha2.LlamaStackDistribution{}, byBounds()).
		Watches(&corev1.ConfigMap{}, s.byReference(kindConfigMap), builder.OnlyMetadata, changed).
		Watches(&corev1.Secret{}, s.byReference(kindSecret), builder.OnlyMetadata, changed).
		// Workers start after this source has read the ConfigMap, so that no reconcile runs without it.
		WatchesRawSource(source.Kind[client.Object](options.OperatorConfig, &corev1.ConfigMap{}, s.byOperatorConfig())).
		WatchesRawSource(s.Hosts.Index(mgr.GetFieldIndexer())).
		WatchesRawSource(source.Channel(s.news, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Concurrency,
			NewQueue:                s.newQueue(options.Concurrency),
			// A test restarts the controller in the same process with the same name.
			SkipNameValidation: new(true),
			RateLimiter:        options.RateLimiter,
		})
	watchChildren(built, options.APIs)
	c, err := built.Build(r)
	if err != nil {
		return nil, fmt.Errorf("build controller: %w", err)
	}
	return c, nil
}

// newQueue returns a function that creates the queue of the controller, to which Stacks also adds requests itself.
func (s *Stacks) newQueue(workers int) func(
	string, workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	create := queue.NewFair(workers)
	return func(
		name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
	) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		fair := create(name, limiter)
		s.add = fair.Add
		return fair
	}
}

// watchChildren watches every kind of child that the cluster serves.
func watchChildren(built *ctrl.Builder, apis *caches.APIs) {
	children := Children()
	for _, kind := range render.ChildKinds() {
		if kind.Definition != "" {
			if apis.Serves(kind.GroupVersionKind) {
				built.WatchesRawSource(apis.Source(kind.GroupVersionKind))
			}
			continue
		}
		var change predicate.Predicate = predicate.ResourceVersionChangedPredicate{}
		if kind.IgnoreStatus { // the status changes with every pod
			change = predicate.Or[client.Object](ourChange(), ownersChanged(), autoscalerChanged())
		}
		options := []builder.WatchesOption{builder.WithPredicates(change)}
		if kind.MetadataOnly {
			options = append(options, builder.OnlyMetadata)
		}
		built.Watches(kind.New(), children, options...)
	}
}

// Requeue requeues a stack about which a worker has news.
func (s *Stacks) Requeue(ctx context.Context, stack types.NamespacedName) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: stack.Name}}
	select {
	case s.news <- ctrlevent.GenericEvent{Object: object}:
	case <-ctx.Done():
	}
}

// RequeueExposed requeues the stacks that the addition or removal of a kind may affect.
func (s *Stacks) RequeueExposed(ctx context.Context) {
	for _, request := range s.stacksWhere(ctx, exposedStack) {
		s.Requeue(ctx, request.NamespacedName)
	}
}

// exposedStack reports whether the spec has network settings. If so, a change to the exposure settings may affect the
// stack.
func exposedStack(stack *v1alpha2.LlamaStackDistribution) bool { return stack.Spec.Networking != nil }
