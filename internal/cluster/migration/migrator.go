package migration

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	defaultRate   = 20
	defaultSettle = 5 * time.Second
	// maxUnanswered is the number of consecutive failed requests after which a run ends. It counts only requests that fail
	// because the API server, or a webhook that it calls, is unavailable. If an object cannot be written for any other
	// reason, the run continues.
	maxUnanswered = 3
)

// Options are the options of a Migrator. The zero value means the defaults.
type Options struct {
	// Rate is the maximum number of objects that are written per second. Zero means 20. Objects that are already in the
	// storage version do not count, because the API server does not write them.
	Rate float64
	// Settle is the time that a run waits before it lists objects. Zero means 5 seconds, which is also the time after
	// which the API server reports a new definition as established. Before that, another API server may still write the
	// previous storage version.
	Settle time.Duration
	// Observe is called with the progress of a run after the objects are listed, and after each object. It may be nil.
	Observe func(Progress)
}

// Migrator migrates the objects of one CustomResourceDefinition.
type Migrator struct {
	client     client.Client
	definition string
	options    Options
}

// New returns a Migrator for the CustomResourceDefinition with the given name. The client must not read from a cache,
// and its scheme must contain CustomResourceDefinitions.
func New(c client.Client, definition string, options Options) *Migrator {
	options.Rate = cmp.Or(options.Rate, defaultRate)
	options.Settle = cmp.Or(options.Settle, defaultSettle)
	if options.Observe == nil {
		options.Observe = func(Progress) {}
	}
	return &Migrator{client: c, definition: definition, options: options}
}

// Run stores every object in the storage version of the definition, and then removes the other versions from the list
// of stored versions. If the list contains only the storage version, Run only reads the definition.
//
// If ctx ends or an error occurs, the list of stored versions does not change. The next run examines all objects again,
// and writes the objects that are not yet in the storage version. If an object cannot be written, the result counts the
// object in Failed, and the list does not change either.
//
// Run returns ErrChanged if the definition changed during the run. To complete the migration, the caller must then call
// Run again.
func (m *Migrator) Run(ctx context.Context) (Result, error) {
	before, err := m.read(ctx)
	if err != nil {
		return Result{}, err
	}
	result := Result{Progress: Progress{Version: before.storage}, Before: before.stored}
	if before.migrated() {
		result.Complete = true
		return result, nil
	}
	if err := before.check(before.storage); err != nil {
		return result, err
	}
	if err := pause(ctx, m.options.Settle); err != nil {
		return result, err
	}
	return result, m.migrate(ctx, before, &result)
}

// migrate stores every object in the storage version, and trims the list of stored versions.
func (m *Migrator) migrate(ctx context.Context, before *definition, result *Result) error {
	// After an upgrade, the operator writes the CA bundle of the webhooks into the definition at about this time. Without
	// this check, the run would write all objects before it detects the change, and would then have to start again.
	if _, err := m.readAgain(ctx, before); err != nil {
		return err
	}
	objects, err := m.list(ctx, before.storageKind())
	if err != nil {
		return err
	}
	if err := m.rewriteAll(ctx, before.storageKind(), objects, result); err != nil || result.Failed > 0 {
		return err
	}
	if err := m.trim(ctx, before); err != nil {
		return err
	}
	result.Complete = true
	return nil
}

// Try makes the requests that Run makes for the objects, as a dry run and with `version` as the storage version. It
// also returns the names of all objects, because a client cannot determine which of them are already stored in that
// version.
func (m *Migrator) Try(ctx context.Context, version string) ([]types.NamespacedName, Result, error) {
	definition, err := m.read(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	if err := definition.check(version); err != nil {
		return nil, Result{}, err
	}
	kind := definition.kind.WithVersion(version)
	result := Result{Progress: Progress{Version: version}, Before: definition.stored}
	objects, err := m.list(ctx, kind)
	if err != nil {
		return nil, result, err
	}
	names := make([]types.NamespacedName, 0, len(objects))
	for _, object := range objects {
		names = append(names, object.name)
	}
	return names, result, m.rewriteAll(ctx, kind, objects, &result, client.DryRunAll)
}

// rewriteAll writes the objects one after another.
func (m *Migrator) rewriteAll(
	ctx context.Context, kind kind, objects []object, result *Result, options ...client.PatchOption,
) error {
	limiter := rate.NewLimiter(rate.Limit(m.options.Rate), 1)
	result.Objects = len(objects)
	m.options.Observe(result.Progress)
	unanswered := 0
	for _, object := range objects {
		changed, err := m.rewrite(ctx, kind, object, options...)
		if ctx.Err() != nil {
			return fmt.Errorf("migrate %q: %w", object.name, ctx.Err())
		}
		if unanswered = countUnanswered(unanswered, err); unanswered == maxUnanswered {
			return fmt.Errorf("migrate %q: %w", object.name, err)
		}
		result.count(object.name, err)
		if changed {
			result.Rewritten++
			if err := limiter.Wait(ctx); err != nil {
				return fmt.Errorf("wait for the next object: %w", err)
			}
		}
		m.options.Observe(result.Progress)
	}
	return nil
}

// countUnanswered returns the number of consecutive requests for which unanswered returns true, after a request that
// returned err.
func countUnanswered(before int, err error) int {
	if err != nil && unanswered(err) {
		return before + 1
	}
	return 0
}

// pause waits for the given duration, or until ctx ends.
func pause(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
