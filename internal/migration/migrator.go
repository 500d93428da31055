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
	// maxUnanswered is how many objects in a row may meet an API server, or a webhook behind it, that does not answer. An
	// object that nobody answers for by itself is passed over; when all is away, the run ends early.
	maxUnanswered = 3
)

// Options say how fast a migration is and who sees it. The zero value is for production.
type Options struct {
	// Rate is how many objects are written a second at most; zero: 20. Objects that are stored as they should be are not
	// counted: they cost no write.
	Rate float64
	// Settle is how long a run waits before it begins; zero: 5 seconds, which is also what the API server waits before it
	// calls a new definition established. For so long an API server beside the one that was told of a new storage version
	// may write the one before.
	Settle time.Duration
	// Observe is told how far a run is: when the objects are listed, and after each. Nil: nobody.
	Observe func(Progress)
}

// Migrator migrates the objects of one CustomResourceDefinition.
type Migrator struct {
	client     client.Client
	definition string
	options    Options
}

// New makes a Migrator of the CustomResourceDefinition with that name. The client reads past caches and knows
// CustomResourceDefinitions.
func New(c client.Client, definition string, options Options) *Migrator {
	options.Rate = cmp.Or(options.Rate, defaultRate)
	options.Settle = cmp.Or(options.Settle, defaultSettle)
	if options.Observe == nil {
		options.Observe = func(Progress) {}
	}
	return &Migrator{client: c, definition: definition, options: options}
}

// Run stores every object in the definition's storage version. When it stored all of them, that is the only one of the
// definition's stored versions afterwards. Where that is so already, Run reads the definition and does nothing else.
//
// A run that ends early, by the end of ctx or by an error, leaves the list of stored versions as it was. The next one goes
// through all objects again, and writes those that are not yet stored as they should be. An object that cannot be written
// is in the result, and keeps the list as it was, too.
//
// The error is ErrChanged when the definition changed meanwhile: run again.
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
	// After an upgrade the authority of the webhooks comes into the definition now. A run that began before would be in vain.
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

// Try does what Run would do if version was the storage version, and stores nothing. It returns the names of all objects
// as well: which of them are stored in that version already is not to be seen.
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
		case err == nil || apierrors.IsNotFound(err): // what is gone needs nothing any more
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

// countUnanswered is how many calls in a row were not answered, after one that ended with err.
func countUnanswered(before int, err error) int {
	if unanswered(err) {
		return before + 1
	}
	return 0
}

// pause waits, unless ctx ends before.
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
