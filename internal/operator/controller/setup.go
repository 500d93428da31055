package controller

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/queue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// Options configures the controller.
type Options struct {
	// Direct is the client that bypasses the caches.
	Direct client.Client
	// OperatorNamespace is the namespace of the operator's own Secret and ConfigMap.
	OperatorNamespace string
	// WatchNamespaces lists the namespaces that the operator watches. Empty means all namespaces.
	WatchNamespaces []string
	// OperatorVersion is the operator version in the status.
	OperatorVersion string
	// OperatorConfig caches the complete ConfigMap of the operator.
	OperatorConfig cache.Cache
	// Optional is the cache for children of kinds that some clusters do not serve. Definitions contains caches for their
	// CustomResourceDefinitions, by name. If a definition has no cache, the operator looks up its kind only when the
	// operator starts.
	Optional    cache.Cache
	Definitions map[string]cache.Cache
	// MirrorSets caches the mirror sets of the cluster. Nil means that the operator must not read them.
	MirrorSets cache.Cache
	// OtherInstallation returns the namespace of another installation of the operator that manages the stacks, or nothing.
	// While there is one, the controller changes nothing. Nil means that there is none.
	OtherInstallation func(context.Context) (string, error)
	// RelatedImages contains replacements for images in the catalog. The operator's ConfigMap takes precedence.
	RelatedImages distribution.Overrides
	// DialServer connects to the addresses of the pods of stacks. Nil means that connections use the network.
	DialServer probe.Dial
	// ProbeInterval is the pause between two health checks of a server's providers. Zero means the prober's default.
	ProbeInterval time.Duration
	// TagInterval is the pause before the operator resolves the tag of an image again, unless the operator's ConfigMap
	// sets a different pause. Zero means the pool's default.
	TagInterval time.Duration
	// AutoscalerPatience is the time that the operator waits for an autoscaler's metrics before it reports a problem. Zero
	// means three minutes.
	AutoscalerPatience time.Duration
	// Identities uses the operator pod's own identity to get credentials for cloud registries. An administrator must allow
	// this identity for each of these registries. Nil means that the pod has no identity.
	Identities registry.Identities
	// OpenShift reports whether the cluster assigns the UID, GID and fsGroup of pods.
	OpenShift bool
	// Concurrency is the maximum number of stacks that the operator reconciles at the same time.
	Concurrency int
}

// Watched returns an object of every kind that the controller reads from its caches, with the Go type that it reads. It
// leaves out kinds that some clusters do not serve.
func Watched() []client.Object {
	watched := []client.Object{&v1alpha2.LlamaStackDistribution{}, &appsv1.ReplicaSet{}, &corev1.Pod{}, &corev1.Event{}}
	for _, kind := range render.ChildKinds() {
		switch {
		case kind.Definition != "":
		case kind.MetadataOnly:
			object := &metav1.PartialObjectMetadata{}
			object.SetGroupVersionKind(kind.GroupVersionKind)
			watched = append(watched, object)
		default:
			watched = append(watched, kind.New())
		}
	}
	return watched
}

// newReconciler returns a reconciler without its workers. It reads watched objects from the cache.
func newReconciler(
	cache client.Reader, recorder events.EventRecorder, options Options, apis *optionalAPIs,
) *Reconciler {
	indexed := indexedCache{cache}
	children := childCache{indexed, apis, options.Direct}
	return &Reconciler{
		cache: indexed, children: children, direct: options.Direct, apis: apis,
		applier: apply.New(apply.Options{
			Writer: options.Direct, Cache: children, Scheme: options.Direct.Scheme(),
			Manager:      names.FieldManager,
			MetadataOnly: render.MetadataOnlyKinds(),
		}),
		configMaps: resolve.NewConfigMaps(cache, options.Direct, options.WatchNamespaces...),
		digestKeys: resolve.NewDigestKeys(options.Direct, options.OperatorNamespace),
		references: newReferenceIndex(), exposures: newExposures(), writer: report.NewWriter(options.Direct, recorder), retries: newRetries(),
		largePlans:    newLargePlans(),
		configure:     plan.Configure,
		recorder:      recorder,
		config:        newOperatorConfig(options.OperatorConfig, options.OperatorNamespace),
		relatedImages: options.RelatedImages, otherInstallation: options.OtherInstallation,
		version: options.OperatorVersion, openShift: options.OpenShift, now: time.Now,
		autoscalerPatience: cmp.Or(options.AutoscalerPatience, defaultAutoscalerPatience), identities: options.Identities,
	}
}

// SetupWithManager adds the controller to the manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	apis, err := newOptionalAPIs(ctx, options.Optional, mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	r := newReconciler(mgr.GetCache(), mgr.GetEventRecorder(names.EventReporter), options, apis)
	requeued := make(chan ctrlevent.GenericEvent)
	if err := r.addWorkers(mgr, options, requeued); err != nil {
		return err
	}
	built := r.watches(mgr, options).WatchesRawSource(source.Channel(requeued, &handler.EnqueueRequestForObject{}))
	watchChildren(built, apis)
	c, err := built.Build(r)
	if err != nil {
		return fmt.Errorf("build controller: %w", err)
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		return apis.follow(ctx, options.Definitions, c, r.requeueExposed(requeued))
	}))
	if err != nil {
		return fmt.Errorf("add the watches for CustomResourceDefinitions: %w", err)
	}
	return r.createOperatorConfig(mgr, options)
}

// addWorkers adds the prober for servers and the image reader to the manager. If the operator reads mirror sets,
// addWorkers also adds the watches for the mirror sets. The prober and the image reader requeue stacks through the
// channel `requeued`.
func (r *Reconciler) addWorkers(mgr ctrl.Manager, options Options, requeued chan<- ctrlevent.GenericEvent) error {
	r.prober = probe.New(probe.Options{
		Locate: r.locate, Refused: apiServerAddress(mgr.GetConfig().Host),
		Dial: options.DialServer, Interval: options.ProbeInterval, Notify: requeueBy(requeued),
		Log: mgr.GetLogger().WithName("probe"),
	})
	r.pool = registry.NewPool(registry.PoolOptions{
		Credentials: r.pullCredentials, Notify: requeueBy(requeued), LookAgain: options.TagInterval,
		Log: mgr.GetLogger().WithName("registry"),
	})
	workers := map[string]manager.Runnable{"prober": r.prober, "image reader": r.pool}
	if options.MirrorSets != nil {
		mirrors := newMirrorSets(options.MirrorSets, mgr.GetRESTMapper(), r.pool.Mirror, mgr.GetLogger().WithName("mirrors"))
		workers["image reader"] = mirrors.before(r.pool)
		workers["watches for mirror sets"] = manager.RunnableFunc(func(ctx context.Context) error {
			return mirrors.follow(ctx, options.Definitions)
		})
	}
	for name, worker := range workers {
		if err := mgr.Add(worker); err != nil {
			return fmt.Errorf("add the %s: %w", name, err)
		}
	}
	return nil
}

// watches returns a builder for the controller with all watches except those for children.
func (r *Reconciler) watches(mgr ctrl.Manager, options Options) *ctrl.Builder {
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha2.LlamaStackDistribution{}, builder.WithPredicates(predicate.Or(ourChange(), statusLost()))).
		Watches(&appsv1.ReplicaSet{}, byInstance(), changed).
		Watches(&corev1.Pod{}, byInstance(), changed).
		Watches(&corev1.Event{}, byClaim(), changed).
		Watches(&v1alpha2.LlamaStackDistribution{}, r.byHostname()).
		Watches(&v1alpha2.LlamaStackDistribution{}, byBounds()).
		Watches(&corev1.ConfigMap{}, r.byReference(kindConfigMap), builder.OnlyMetadata, changed).
		Watches(&corev1.Secret{}, r.byReference(kindSecret), builder.OnlyMetadata, changed).
		// Workers start after this source has read the ConfigMap, so that no reconcile runs without it.
		WatchesRawSource(source.Kind[client.Object](options.OperatorConfig, &corev1.ConfigMap{}, r.byOperatorConfig())).
		WatchesRawSource(r.hostIndex(mgr.GetFieldIndexer())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Concurrency,
			NewQueue:                r.newQueue(options.Concurrency),
			// A test restarts the controller in the same process with the same name.
			SkipNameValidation: new(true),
			RateLimiter:        workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		})
}

// newQueue returns a function that creates the queue of the controller, in which the reconciler also requeues stacks
// itself.
func (r *Reconciler) newQueue(workers int) func(
	string, workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	create := queue.NewFair(workers)
	return func(
		name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
	) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		fair := create(name, limiter)
		r.requeue = fair.Add
		return fair
	}
}

// watchChildren watches every kind of child that the cluster serves.
func watchChildren(built *ctrl.Builder, apis *optionalAPIs) {
	children := queue.ChildrenLast(byController())
	for _, kind := range render.ChildKinds() {
		if kind.Definition != "" {
			if apis.serves(kind.GroupVersionKind) {
				built.WatchesRawSource(apis.source(kind.GroupVersionKind))
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

// createOperatorConfig adds a runnable to the manager. The runnable creates the operator's ConfigMap, if it is missing,
// when this instance becomes the leader. The operator also works without the ConfigMap.
func (r *Reconciler) createOperatorConfig(mgr ctrl.Manager, options Options) error {
	err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		_, err := options.OperatorConfig.GetInformer(ctx, &corev1.ConfigMap{}) // starts the informer for WaitForCacheSync
		if err == nil && options.OperatorConfig.WaitForCacheSync(ctx) {
			err = r.config.create(ctx, options.Direct)
		}
		if err != nil && ctx.Err() == nil {
			mgr.GetLogger().Error(err, "The operator's ConfigMap cannot be created")
		}
		return nil
	}))
	if err != nil {
		return fmt.Errorf("add the operator's ConfigMap: %w", err)
	}
	return nil
}

// ourChange selects changes to the generation, the annotations and the labels. It ignores changes to the status.
func ourChange() predicate.Predicate {
	return predicate.Or[client.Object](
		predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{})
}

// statusLost detects that another client overwrote the status. A client with the original v1alpha1 types writes the
// whole status, without the fields that these types lack.
func statusLost() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1alpha2.LlamaStackDistribution)
		if !ok {
			return false
		}
		now, ok := e.ObjectNew.(*v1alpha2.LlamaStackDistribution)
		return ok && now.Status.ObservedGeneration < before.Status.ObservedGeneration
	}}
}

// ownersChanged detects changes to owner references, for example when a child loses the reference to its stack.
func ownersChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
	}}
}

// autoscalerChanged compares the specs of an autoscaler to detect changes, because autoscalers have no generation. It
// also detects when an autoscaler starts or stops scaling.
func autoscalerChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*autoscalingv2.HorizontalPodAutoscaler)
		if !ok {
			return false
		}
		now, ok := e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
		was, _ := status.AutoscalerTrouble(before)
		is, _ := status.AutoscalerTrouble(now)
		return ok && (was != is || !equality.Semantic.DeepEqual(before.Spec, now.Spec))
	}}
}

// byController maps a child to the stack that controls it.
func byController() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		owner := metav1.GetControllerOfNoCopy(object)
		if owner == nil || owner.Kind != v1alpha2.Kind ||
			!strings.HasPrefix(owner.APIVersion, v1alpha2.GroupVersion.Group+"/") {
			return nil
		}
		return requestsFor(object.GetNamespace(), owner.Name)
	})
}

// byInstance maps a pod or ReplicaSet to its stack by the label in the stack's selector.
func byInstance() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		stack := object.GetLabels()[names.LabelInstance]
		if stack == "" {
			return nil
		}
		return requestsFor(object.GetNamespace(), stack)
	})
}

// byReference maps a Secret or ConfigMap to the group of stacks that refer to it.
func (r *Reconciler) byReference(kind string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		if !r.references.used(kind, client.ObjectKeyFromObject(object)) {
			return nil
		}
		return []reconcile.Request{group{kind, object.GetName()}.request(object.GetNamespace())}
	})
}
