package watcher

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
)

// retries are the pauses after a run that could not process all objects, for example because the conversion webhook has
// not started yet. The pauses range from one second to one minute.
var retries = wait.Backoff{Duration: time.Second, Factor: 2, Cap: time.Minute, Steps: math.MaxInt32}

// revisits are the pauses after a run in which individual objects could not be written. A user has to examine these
// objects. The pauses range from one minute to one hour.
var revisits = wait.Backoff{Duration: time.Minute, Factor: 2, Cap: time.Hour, Steps: math.MaxInt32}

// Options are the options of a Watcher.
type Options struct {
	// Client must not read from a cache, and its scheme must contain CustomResourceDefinitions.
	Client client.Client
	// Informers watch only the metadata of the CustomResourceDefinition with the name Definition. Nil means that the
	// operator is limited to some namespaces. The operator can then read neither the definition nor the objects in
	// other namespaces, and does not migrate any object.
	Informers cache.Informers
	// Definition is the name of the CustomResourceDefinition.
	Definition string
	// Migration contains the options of the Migrator. The Watcher replaces Observe.
	Migration migration.Options
}

// Watcher is a Runnable of the manager.
type Watcher struct {
	options  Options
	migrator *migration.Migrator
	// retry and revisit return the next pauses. The field `logged` reports whether the current problem was logged.
	retry, revisit func() time.Duration
	logged         bool
}

var (
	_ manager.Runnable               = (*Watcher)(nil)
	_ manager.LeaderElectionRunnable = (*Watcher)(nil)
)

// New returns a Watcher. It makes no API call before Start.
func New(options Options) *Watcher {
	w := &Watcher{options: options}
	w.reset()
	return w
}

// NeedLeaderElection returns true, because only one replica may migrate objects.
func (*Watcher) NeedLeaderElection() bool { return true }

// Start migrates objects until ctx ends. If the operator is limited to some namespaces or is not allowed to read the
// definition, Start logs this and returns.
func (w *Watcher) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("migration").WithValues("definition", w.options.Definition)
	ctx = log.IntoContext(ctx, logger)
	if w.options.Informers == nil {
		logger.Info("The operator is limited to some namespaces and does not migrate stored objects")
		return nil
	}
	var definition metav1.PartialObjectMetadata
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := w.options.Client.Get(ctx, client.ObjectKey{Name: w.options.Definition}, &definition)
	if apierrors.IsForbidden(err) {
		logger.Info("The operator is not allowed to read the CustomResourceDefinition, "+
			"and does not migrate stored objects",
			"reason", err.Error())
		return nil
	}
	changes, err := w.watch(ctx, &definition)
	if err != nil {
		return err
	}
	w.follow(ctx, changes)
	return nil
}

// watch returns a channel that receives a value when the definition is first read or is created, and after each change
// to the definition.
func (w *Watcher) watch(ctx context.Context, definition client.Object) (<-chan struct{}, error) {
	informer, err := w.options.Informers.GetInformer(ctx, definition, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch definition %q: %w", w.options.Definition, err)
	}
	changes := make(chan struct{}, 1)
	changed := func() {
		select {
		case changes <- struct{}{}:
		default: // a value is already pending
		}
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() },
	})
	if err != nil {
		return nil, fmt.Errorf("watch definition %q: %w", w.options.Definition, err)
	}
	// The removal fails only for informers that have stopped.
	context.AfterFunc(ctx, func() { _ = informer.RemoveEventHandler(registration) })
	return changes, nil
}

// follow runs the migration after each change, and again after a pause if some objects are not migrated.
func (w *Watcher) follow(ctx context.Context, changes <-chan struct{}) {
	observed := w.options.Migration
	report := migration.Sparsely(func(now migration.Progress) {
		if now.Pending() > 0 { // The method run logs the end of a run.
			log.FromContext(ctx).Info("Migrating stored objects", counts(now)...)
		}
	})
	observed.Observe = func(now migration.Progress) {
		objectsMetric.WithLabelValues("pending").Set(float64(now.Pending()))
		objectsMetric.WithLabelValues("migrated").Set(float64(now.Migrated))
		objectsMetric.WithLabelValues("failed").Set(float64(now.Failed))
		report(now)
	}
	w.migrator = migration.New(w.options.Client, w.options.Definition, observed)
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case <-again:
		}
		again = nil
		if pause := w.run(ctx); pause > 0 {
			again = time.After(pause)
		}
	}
}

// run runs the migration once, and returns the pause until the next run. Zero means that the next run follows a change
// to the definition.
func (w *Watcher) run(ctx context.Context) time.Duration {
	logger := log.FromContext(ctx)
	result, err := w.migrator.Run(ctx)
	if result.Version != "" { // the definition was read
		completeMetric.WithLabelValues().Set(map[bool]float64{true: 1}[result.Complete])
	}
	switch {
	case ctx.Err() != nil:
		return 0
	case apierrors.IsNotFound(err): // the next run follows the creation of the definition
		return 0
	case errors.Is(err, migration.ErrChanged):
		logger.Info("The CustomResourceDefinition changed during the migration; starting again")
		return w.retry()
	case err != nil:
		w.logProblem(ctx, err)
		return w.retry()
	case result.Failed > 0:
		logger.Info("The migration of some stored objects failed; the operator migrated all others and retries the "+
			"failed objects", append(counts(result.Progress), "objects", result.FailedObjects())...)
		w.retry = retries.DelayFunc()
		return w.revisit()
	default:
		if len(result.Before) > 1 || result.Objects > 0 {
			logger.Info("All stored objects are in the storage version", counts(result.Progress)...)
		}
		w.reset()
		return 0
	}
}

// logProblem logs the first of several consecutive problems.
func (w *Watcher) logProblem(ctx context.Context, err error) {
	if !w.logged {
		log.FromContext(ctx).Info("The operator cannot migrate stored objects now; retrying until the migration succeeds",
			"reason", err.Error())
		w.logged = true
	}
}

// reset sets the pauses to the shortest ones, and enables logging of the next problem.
func (w *Watcher) reset() {
	w.retry, w.revisit, w.logged = retries.DelayFunc(), revisits.DelayFunc(), false
}

// counts returns the progress as keys and values for the log.
func counts(of migration.Progress) []any {
	return []any{
		"version", of.Version, "of", of.Objects, "migrated", of.Migrated, "rewritten", of.Rewritten, "failed",
		of.Failed,
	}
}

var (
	objectsMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "llama_stack_operator_storage_migration_objects",
		Help: "Number of stacks in the last storage migration, by state: pending (not yet examined), migrated (stored in the storage version), " +
			"or failed.",
	}, []string{"state"})
	// completeMetric has no series until this replica runs a migration. A gauge without labels is 0 from the start, so the
	// replicas that wait for the lease would trigger an alert for a migration that is not complete.
	completeMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "llama_stack_operator_storage_migration_complete",
		Help: "Whether all stacks are stored in the storage version only: 1 if they are, 0 if not.",
	}, nil)
)

func init() {
	metrics.Registry.MustRegister(objectsMetric, completeMetric)
}
