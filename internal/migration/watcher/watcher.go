package watcher

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migration"
)

// retries are the pauses after a run that could not go through all objects: the conversion webhook may take a moment to
// be there, and until the migration is done stored objects of the other version depend on it. From one second to a minute.
var retries = wait.Backoff{Duration: time.Second, Factor: 2, Cap: time.Minute, Steps: math.MaxInt32}

// revisits are the pauses after a run that left objects behind, which takes somebody to look at them. From a minute to an
// hour.
var revisits = wait.Backoff{Duration: time.Minute, Factor: 2, Cap: time.Hour, Steps: math.MaxInt32}

// Options are what a Watcher needs.
type Options struct {
	// Client reads past caches and knows CustomResourceDefinitions.
	Client client.Client
	// Informers watch the metadata of the definition and of no other one. Nil: the operator is limited to some namespaces,
	// where it sees neither the definition nor all objects, and nothing is migrated.
	Informers cache.Informers
	// Definition is the name of the CustomResourceDefinition.
	Definition string
	// Migration are passed on; Observe is the watcher's own.
	Migration migration.Options
}

// Watcher is a Runnable of the manager.
type Watcher struct {
	options  Options
	migrator *migration.Migrator
	// retry and revisit are the next pauses, told that what was wrong is in the log.
	retry, revisit func() time.Duration
	told           bool
}

var (
	_ manager.Runnable               = (*Watcher)(nil)
	_ manager.LeaderElectionRunnable = (*Watcher)(nil)
)

// New makes a Watcher. Nothing is called before Start.
func New(options Options) *Watcher {
	w := &Watcher{options: options}
	w.reset()
	return w
}

// NeedLeaderElection is true: one replica writes.
func (*Watcher) NeedLeaderElection() bool { return true }

// Start migrates until ctx ends. Where the operator may not see the definition it says so and returns.
func (w *Watcher) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("migration").WithValues("definition", w.options.Definition)
	ctx = log.IntoContext(ctx, logger)
	if w.options.Informers == nil {
		logger.Info("The operator is limited to some namespaces, and migrates no stored objects")
		return nil
	}
	var definition metav1.PartialObjectMetadata
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := w.options.Client.Get(ctx, client.ObjectKey{Name: w.options.Definition}, &definition)
	if apierrors.IsForbidden(err) {
		logger.Info("The operator may not read the definition, and migrates no stored objects", "reason", err.Error())
		return nil
	}
	changes, err := w.watch(ctx, &definition)
	if err != nil {
		return err
	}
	w.follow(ctx, changes)
	return nil
}

// watch gives a channel that has something while the definition may have changed since it was read.
func (w *Watcher) watch(ctx context.Context, definition client.Object) (<-chan struct{}, error) {
	informer, err := w.options.Informers.GetInformer(ctx, definition, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch definition %q: %w", w.options.Definition, err)
	}
	changes := make(chan struct{}, 1)
	changed := func() {
		select {
		case changes <- struct{}{}:
		default: // there is one that nobody took yet
		}
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() },
	})
	if err != nil {
		return nil, fmt.Errorf("watch definition %q: %w", w.options.Definition, err)
	}
	context.AfterFunc(ctx, func() { _ = informer.RemoveEventHandler(registration) }) // it fails when all is stopped anyway
	return changes, nil
}

// follow migrates after each change, and again after a pause when something is left to do.
func (w *Watcher) follow(ctx context.Context, changes <-chan struct{}) {
	observed := w.options.Migration
	report := migration.Sparsely(func(now migration.Progress) {
		if now.Pending() > 0 { // begin and end have lines of their own
			log.FromContext(ctx).Info("Migrating stored objects", counts(now)...)
		}
	})
	observed.Observe = func(now migration.Progress) {
		showProgress(now)
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

// run migrates once and gives the pause until the next time; zero: until the definition changes.
func (w *Watcher) run(ctx context.Context) time.Duration {
	logger := log.FromContext(ctx)
	result, err := w.migrator.Run(ctx)
	if result.Version != "" { // the definition was read
		showComplete(result.Complete)
	}
	switch {
	case ctx.Err() != nil:
		return 0
	case apierrors.IsNotFound(err): // it will come
		return 0
	case errors.Is(err, migration.ErrChanged):
		logger.Info("The definition changed during the migration; beginning again")
		return w.retry()
	case err != nil:
		if !w.told {
			logger.Info("Stored objects cannot be migrated now; trying again until they can", "reason", err.Error())
			w.told = true
		}
		return w.retry()
	case result.Failed > 0:
		logger.Info("Some stored objects could not be migrated; all others are, and these are tried again",
			append(counts(result.Progress), "objects", result.FailedObjects())...)
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

// reset begins with the shortest pauses, and tells again what is wrong.
func (w *Watcher) reset() {
	w.retry, w.revisit, w.told = retries.DelayFunc(), revisits.DelayFunc(), false
}

// counts are for the log.
func counts(of migration.Progress) []any {
	return []any{"version", of.Version, "of", of.Objects, "migrated", of.Migrated, "rewritten", of.Rewritten, "failed", of.Failed}
}
