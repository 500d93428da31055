package manager

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/cloud"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/salvage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
)

// kindRetry is the pause between checks for a kind that the API server does not serve.
const kindRetry = 2 * time.Second

// GracefulShutdown is the time that work in progress may take after the operator receives the signal to stop. The
// manager then releases the lease. The grace period of the operator's pod is longer than this time.
const GracefulShutdown = 10 * time.Second

// New returns a manager with all parts of the operator.
func New(
	ctx context.Context, config *rest.Config, options Options, version string, getenv func(string) string,
) (ctrl.Manager, error) {
	if err := options.complete(getenv); err != nil {
		return nil, fmt.Errorf("check options: %w", err)
	}
	config = clientConfig(config, options, version)
	mgr, err := newManager(ctx, config, options, getenv("GOGC"))
	if err != nil {
		return nil, err
	}
	settings, err := controllerOptions(ctx, mgr, config, options, version, distribution.RelatedImages(getenv))
	if err != nil {
		return nil, err
	}
	if err := addWebhooks(ctx, mgr, config, options, settings); err != nil {
		return nil, err
	}
	definition, err := addDefinition(mgr, config, options)
	if err != nil {
		return nil, err
	}
	if err := addMigration(mgr, definition, settings.Direct, options); err != nil {
		return nil, err
	}
	if definition != nil {
		found, err := addInstallation(mgr, settings.Direct, definition, options.OperatorNamespace)
		if err != nil {
			return nil, err
		}
		settings.OtherInstallation = found.Other
	}
	if err := controller.SetupWithManager(ctx, mgr, settings); err != nil {
		return nil, fmt.Errorf("set up the controller: %w", err)
	}
	return mgr, nil
}

// clientConfig returns a copy of config with the settings of all the operator's clients.
func clientConfig(config *rest.Config, options Options, version string) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = names.UserAgent + "/" + version
	config.QPS, config.Burst = options.QPS, options.Burst
	config.WarningHandlerWithContext = verboseWarnings{}
	log := limited(ctrl.Log)
	config.Wrap(salvage.Transport(func(object, problem string) {
		log.Info("A stack cannot be decoded as it is stored", "stack", object, "problem", problem)
	}))
	renewToken(config)
	return config
}

// newManager returns a manager with health checks, metrics and a memoryReleaser. The parameter `gogc` is the value of
// $GOGC.
func newManager(ctx context.Context, config *rest.Config, options Options, gogc string) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha2.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("create a scheme: %w", err)
	}
	made, err := ctrl.NewManager(config, managerOptions(scheme, options))
	if err != nil {
		return nil, fmt.Errorf("create a manager: %w", err)
	}
	mgr := &checked{Manager: made, live: map[string]healthz.Checker{}, ready: map[string]healthz.Checker{}}
	if err := mgr.serveHealth(ctx, options.HealthProbeBindAddress); err != nil {
		return nil, err
	}
	if err := serveMetrics(ctx, mgr, options); err != nil {
		return nil, err
	}
	if err := mgr.Add(newMemoryReleaser(gogc)); err != nil {
		return nil, fmt.Errorf("add the memory releaser: %w", err)
	}
	return mgr, addHealth(mgr, options.WebhookBindAddress == notServed)
}

// controllerOptions returns the options of the controller. It also adds to the manager the caches that the controller
// reads.
func controllerOptions(
	ctx context.Context, mgr ctrl.Manager, config *rest.Config, options Options, version string,
	images distribution.Overrides,
) (settings controller.Options, err error) {
	settings = controller.Options{
		OperatorNamespace: options.OperatorNamespace, OperatorVersion: version, RelatedImages: images,
		DialServer: options.DialServer, ProbeInterval: options.ProbeInterval, TagInterval: options.TagInterval,
		Concurrency: options.Concurrency, WatchNamespaces: options.WatchNamespaces,
		AutoscalerPatience: options.AutoscalerPatience, Identities: cloud.New(cloud.Options{}),
	}
	if settings.Direct, err = directClient(mgr, config); err != nil {
		return settings, err
	}
	if settings.OpenShift, err = openShift(mgr.GetRESTMapper()); err != nil {
		return settings, err
	}
	if settings.OperatorConfig, err = addOperatorConfig(ctx, mgr, config, options.OperatorNamespace); err != nil {
		return settings, err
	}
	if settings.Optional, settings.Definitions, err = addOptional(mgr, config, options.WatchNamespaces); err != nil {
		return settings, err
	}
	settings.MirrorSets, err = addMirrorSets(mgr, config, options.WatchNamespaces)
	return settings, err
}

// directClient returns a client that bypasses the caches, so that no call can start a watch by accident.
func directClient(mgr ctrl.Manager, config *rest.Config) (client.Client, error) {
	direct, err := client.New(config, client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return direct, nil
}

// cacheSyncTimeout bounds how long caches may take to fill at start. It is practically unlimited. While the API server
// does not trust the conversion webhook, or cannot reach one of its replicas, the API server cannot list stacks that
// are stored in v1alpha1. An operator that exited after controller-runtime's default of two minutes would exit again
// and again, and would stop the webhooks and the code that repairs the trust.
const cacheSyncTimeout = 100 * 365 * 24 * time.Hour

func managerOptions(scheme *runtime.Scheme, options Options) ctrl.Options {
	return ctrl.Options{
		Scheme:                        scheme,
		Cache:                         caches.Options(options.WatchNamespaces),
		Metrics:                       metricsserver.Options{BindAddress: notServed}, // see checked
		HealthProbeBindAddress:        notServed,
		LeaderElection:                options.LeaderElect,
		LeaderElectionID:              names.LeaderElectionID,
		LeaderElectionNamespace:       options.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true, // This is safe, because Run returns when Start returns.
		LeaseDuration:                 &options.LeaseDuration,
		RenewDeadline:                 &options.RenewDeadline,
		RetryPeriod:                   &options.RetryPeriod,
		GracefulShutdownTimeout:       new(GracefulShutdown),
		Controller:                    ctrlconfig.Controller{CacheSyncTimeout: cacheSyncTimeout},
	}
}

// withoutHTTP2 disables HTTP/2, which has had many vulnerabilities that let clients exhaust a server. None of the
// operator's clients needs HTTP/2.
func withoutHTTP2(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }

// addHealth adds the liveness check, and starts the caches. Readiness depends on the caches only if there are no
// webhooks.
func addHealth(mgr ctrl.Manager, readyByCaches bool) error {
	warm := &warmUp{
		cache: mgr.GetCache(), kinds: caches.Watched(), log: mgr.GetLogger().WithName("caches"), retry: kindRetry,
	}
	if err := mgr.Add(warm); err != nil {
		return fmt.Errorf("add caches: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the health check: %w", err)
	}
	if !readyByCaches {
		return nil
	}
	if err := mgr.AddReadyzCheck("caches", warm.check); err != nil {
		return fmt.Errorf("add the readiness check for the caches: %w", err)
	}
	return nil
}
