package migration

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	defaultRate   = 20
	defaultSettle = 5 * time.Second
	// maxUnanswered is the number of consecutive objects for which the API server, or a webhook behind it, may be
	// unavailable. A single failed object is skipped. If every call fails, the run ends early.
	maxUnanswered = 3
)

// Options control the rate of a migration and its observer. The zero value is for production.
type Options struct {
	// Rate limits the objects written per second. Zero means 20. Objects that are already in the storage version do not
	// count, because they cost no write.
	Rate float64
	// Settle is how long a run waits before it begins. Zero means 5 seconds, which is also how long the API server
	// waits before it reports a new definition as established. During that time, another API server may still write the
	// previous storage version.
	Settle time.Duration
	// Observe receives the progress of a run after the objects are listed and after each object. Nil means no observer.
	Observe func(Progress)
}

// Migrator migrates the objects of one CustomResourceDefinition.
type Migrator struct {
	client     client.Client
	definition string
	options    Options
}

// New returns a Migrator of the CustomResourceDefinition with that name. The client reads past caches, and its scheme
// has CustomResourceDefinitions.
func New(c client.Client, definition string, options Options) *Migrator {
	options.Rate = cmp.Or(options.Rate, defaultRate)
	options.Settle = cmp.Or(options.Settle, defaultSettle)
	if options.Observe == nil {
		options.Observe = func(Progress) {}
	}
	return &Migrator{client: c, definition: definition, options: options}
}

// Run stores every object in the definition's storage version. If it stored all of them, the definition's list of
// stored versions then contains only that version. If the list already does, Run only reads the definition.
//
// A run that ends early, by the end of ctx or by an error, leaves the list of stored versions unchanged. The next run
// examines all objects again, and writes those that are not yet in the storage version. An object that cannot be
// written is in the result, and also keeps the list unchanged.
//
// Run returns ErrChanged if the definition changed meanwhile. Run it again.
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
	// After an upgrade, the bundle of the webhooks is written into the definition at this time. A run that began
	// earlier would have to start again.
	if _, err := m.readAgain(ctx, before); err != nil {
		return result, err
	}
	objects, err := m.list(ctx, before.storageKind())
	if err != nil {
		return result, err
	}
	if err := m.rewriteAll(ctx, before.storageKind(), objects, &result); err != nil || result.Failed > 0 {
		return result, err
	}
	if err := m.trim(ctx, before); err != nil {
		return result, err
	}
	result.Complete = true
	return result, nil
}

// Try does what Run would do if version were the storage version, and stores nothing. It also returns the names of all
// objects, because it is not visible which of them are already stored in that version.
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
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("migrate %q: %w", object.name, ctx.Err())
		case err == nil || apierrors.IsNotFound(err): // a deleted object needs no migration
			unanswered = 0
			result.Migrated++
		default:
			if unanswered = countUnanswered(unanswered, err); unanswered == maxUnanswered {
				return fmt.Errorf("migrate %q: %w", object.name, err)
			}
			result.fail(object.name, err)
		}
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

// countUnanswered returns the number of consecutive calls without an answer, after one that returned err.
func countUnanswered(before int, err error) int {
	if unanswered(err) {
		return before + 1
	}
	return 0
}

// pause waits until the time is over or ctx ends.
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
