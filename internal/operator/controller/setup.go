package controller

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/observe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/watch"
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

// newReconciler returns a reconciler without its workers. It reads watched objects from the cache.
func newReconciler(
	cache client.Reader, recorder events.EventRecorder, options Options, apis *caches.APIs,
) *Reconciler {
	indexed, recorder := caches.Indexed{Reader: cache}, report.Limited(recorder)
	children := caches.Children{Reader: indexed, APIs: apis, Direct: options.Direct}
	config := resolve.NewOperatorConfig(options.OperatorConfig, options.OperatorNamespace)
	stacks := watch.New(indexed, apis, config, recorder, options.OpenShift)
	configMaps := resolve.NewConfigMaps(cache, options.Direct, options.WatchNamespaces...)
	return &Reconciler{
		cache: indexed, children: children, direct: options.Direct, apis: apis,
		applier: apply.New(apply.Options{
			Writer: options.Direct, Cache: children, Scheme: options.Direct.Scheme(),
			Manager:      names.FieldManager,
			MetadataOnly: render.MetadataOnlyKinds(),
		}),
		configMaps: configMaps,
		planner: planning.New(planning.Options{
			Cache: indexed, Direct: options.Direct, ConfigMaps: configMaps, Settings: config,
			Hosts: stacks.Hosts, Watch: stacks.References.Set,
			DigestKeys:    resolve.NewDigestKeys(options.Direct, options.OperatorNamespace),
			RelatedImages: options.RelatedImages, Version: options.OperatorVersion, OpenShift: options.OpenShift,
			Now: time.Now, Configure: plan.Configure,
		}),
		stacks: stacks, writer: report.NewWriter(options.Direct, recorder), retries: newRetries(),
		recorder:          recorder,
		settings:          config,
		otherInstallation: options.OtherInstallation,
		version:           options.OperatorVersion, openShift: options.OpenShift, now: time.Now,
		autoscalerPatience: cmp.Or(options.AutoscalerPatience, defaultAutoscalerPatience),
	}
}

// SetupWithManager adds the controller to the manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	apis, err := caches.NewAPIs(ctx, options.Optional, mgr.GetRESTMapper(), watch.Children())
	if err != nil {
		return err
	}
	if err := caches.AddIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	r := newReconciler(mgr.GetCache(), mgr.GetEventRecorder(names.EventReporter), options, apis)
	if err := r.addWorkers(mgr, options); err != nil {
		return err
	}
	c, err := r.stacks.Build(mgr, r, watch.Options{
		OperatorConfig: options.OperatorConfig, APIs: apis, Concurrency: options.Concurrency,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	})
	if err != nil {
		return err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		return apis.Follow(ctx, options.Definitions, c, r.stacks.RequeueExposed)
	}))
	if err != nil {
		return fmt.Errorf("add the watches for CustomResourceDefinitions: %w", err)
	}
	return r.createOperatorConfig(mgr, options)
}

// addWorkers adds the prober for servers and the image reader to the manager. If the operator reads mirror sets,
// addWorkers also adds the watches for the mirror sets.
func (r *Reconciler) addWorkers(mgr ctrl.Manager, options Options) error {
	r.observer = observe.New(r.cache, r.now, probe.Options{
		Refused: apiServerAddress(mgr.GetConfig().Host), Dial: options.DialServer, Interval: options.ProbeInterval,
		Notify: r.stacks.Requeue, Log: mgr.GetLogger().WithName("probe"),
	})
	r.images = images.New(r.direct, r.configMaps.KeptBase, options.Identities, registry.PoolOptions{
		Notify: r.stacks.Requeue, LookAgain: options.TagInterval, Log: mgr.GetLogger().WithName("registry"),
	})
	workers := map[string]manager.Runnable{"prober": r.observer.Prober, "image reader": r.images.Pool}
	if options.MirrorSets != nil {
		mirrors := caches.NewMirrorSets(options.MirrorSets, mgr.GetRESTMapper(), r.images.Pool.Mirror,
			mgr.GetLogger().WithName("mirrors"))
		workers["image reader"] = mirrors.Before(r.images.Pool)
		workers["watches for mirror sets"] = manager.RunnableFunc(func(ctx context.Context) error {
			return mirrors.Follow(ctx, options.Definitions)
		})
	}
	for name, worker := range workers {
		if err := mgr.Add(worker); err != nil {
			return fmt.Errorf("add the %s: %w", name, err)
		}
	}
	return nil
}

// createOperatorConfig adds a runnable to the manager. The runnable creates the operator's ConfigMap, if it is missing,
// when this instance becomes the leader. The operator also works without the ConfigMap.
func (r *Reconciler) createOperatorConfig(mgr ctrl.Manager, options Options) error {
	err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		_, err := options.OperatorConfig.GetInformer(ctx, &corev1.ConfigMap{}) // starts the informer for WaitForCacheSync
		if err == nil && options.OperatorConfig.WaitForCacheSync(ctx) {
			err = r.settings.Create(ctx, options.Direct)
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

// apiServerAddress returns the address of the API server in the operator's own configuration, or nothing if the
// configuration contains a name.
func apiServerAddress(host string) []netip.Addr {
	if at, err := url.Parse(host); err == nil && at.Host != "" {
		host = at.Hostname()
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return []netip.Addr{address.Unmap()}
}
