package certificate

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/informer"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// injector writes the bundle into the objects from which the API server reads it.
type injector struct {
	targets  []*target
	metadata metadata.Interface
	clock    clock.Clock
}

// target is one object that contains a bundle. A replica writes only if the object contains a different bundle, and
// every replica writes the same bytes.
type target struct {
	kind     string
	name     string
	resource schema.GroupVersionResource
	get      func(context.Context) (webhooks, error)
	// patch writes the bundle, unless the object has changed since it was read.
	patch func(ctx context.Context, found webhooks, bundle []byte) error
	// tell sets the object's condition for a problem, or removes the condition if the parameter `problem` is empty. tell
	// is nil if the object has no conditions.
	tell func(ctx context.Context, problem string, now time.Time) error

	source  *source
	clock   clock.Clock
	report  *reporter
	writes  *rate.Limiter
	tells   *rate.Limiter
	changed signal
	// settled is set permanently after one of three outcomes: the bundle is injected, is not needed, or cannot be
	// injected.
	settled atomic.Bool
}

// webhooks are the webhooks of an object that call the operator's Service.
type webhooks struct {
	metav1.ObjectMeta

	// bundles holds the bundles that the API server trusts, keyed by webhook name.
	bundles map[string][]byte
	// conditions are the conditions of a definition.
	conditions []apiextensionsv1.CustomResourceDefinitionCondition
}

// injectors lists the annotations that make other programs inject a bundle into an object. The operator does not write
// a bundle into such an object, because the operator and the other program would overwrite each other's bundle again
// and again.
var injectors = []string{
	"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca",
	"service.beta.openshift.io/inject-cabundle",
}

func newInjector(c clients, options Options, from *source) *injector {
	result := &injector{metadata: c.metadata, clock: options.Clock, targets: []*target{
		definitionTarget(c, options), validatingTarget(c, options),
	}}
	for _, target := range result.targets {
		target.source, target.clock, target.changed = from, options.Clock, newSignal()
		target.report = newReporter(options, "InjectBundle")
		target.writes = rate.NewLimiter(rate.Every(writePause), writeBurst)
		target.tells = rate.NewLimiter(rate.Every(writePause), writeBurst)
		from.published = append(from.published, target.changed)
	}
	return result
}

// run keeps the bundle injected until ctx ends.
func (i *injector) run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	for _, target := range i.targets {
		group.Go(func() { watchOne(ctx, i.metadata, target.resource, "", target.name, target.changed) })
		group.Go(func() { loop(ctx, i.clock, target.changed, target.look) })
	}
}

// check returns an error until every object is settled.
func (i *injector) check() error {
	for _, target := range i.targets {
		if !target.settled.Load() {
			return fmt.Errorf("the webhook certificate authority is not yet in %s %q", target.kind, target.name)
		}
	}
	return nil
}

// look injects the bundle into the object if the object contains a different bundle, and returns the pause before the
// next call.
func (t *target) look(ctx context.Context) time.Duration {
	current := t.source.current.Load()
	if current == nil {
		return longestPause // A new bundle ends the pause.
	}
	found, state, err := t.update(ctx, current.bundle)
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		return t.failed(ctx, found, err)
	case state == trusted:
		caInjected.WithLabelValues(t.kind).Set(1)
	case state == unconcerned:
		caInjected.DeleteLabelValues(t.kind)
	case state == behind:
		return quietRetry
	}
	t.settled.Store(true)
	t.report.works()
	return t.condition(ctx, found, "")
}

// update reads the object, and injects the bundle if the object contains a different bundle.
func (t *target) update(ctx context.Context, bundle []byte) (found webhooks, is state, err error) {
	found, err = t.get(ctx)
	if apierrors.IsNotFound(err) {
		found, err = webhooks{}, nil
	}
	t.report.about(t.resource.GroupVersion().WithKind(t.kind), found.ObjectMeta)
	if err != nil {
		return found, behind, err
	}
	is, err = t.inject(ctx, found, bundle)
	return found, is, err
}

// failed reports that the bundle cannot be injected, and returns the pause before the next attempt.
func (t *target) failed(ctx context.Context, found webhooks, err error) time.Duration {
	err = fmt.Errorf("write the webhook certificate authority to %s %q: %w", t.kind, t.name, err)
	pause := t.report.failed(ctx, err)
	if informer.Unavailable(err) || apierrors.IsConflict(err) {
		return pause // the state of the object is unknown
	}
	t.settled.Store(true)
	caInjected.WithLabelValues(t.kind).Set(0)
	if len(found.bundles) > 0 {
		t.condition(ctx, found, err.Error())
	}
	return pause
}

// condition sets or removes the object's condition for a problem, and returns the pause before the next call of the
// function `look`.
func (t *target) condition(ctx context.Context, found webhooks, problem string) time.Duration {
	now := t.clock.Now()
	switch {
	case t.tell == nil || found.reports(problem):
		return longestPause
	case t.tells.TokensAt(now) < 1:
		return writePause
	}
	if err := t.tell(ctx, problem, now); err != nil {
		log.FromContext(ctx).V(1).Info("Cannot write the condition", "kind", t.kind, "name", t.name, "error", err.Error())
		return quietRetry
	}
	t.tells.AllowN(now, 1)
	return longestPause
}

// state is the state of an object after it was examined or changed.
type state int

const (
	// unconcerned means that the object does not exist, or does not call the operator.
	unconcerned state = iota
	// behind means that the replica has an older bundle than the Secret. As soon as the replica has the newer bundle,
	// it checks the object again.
	behind
	// trusted means that the object contains the bundle.
	trusted
)

// inject writes the bundle into the object if the object contains a different bundle.
func (t *target) inject(ctx context.Context, found webhooks, bundle []byte) (state, error) {
	if len(found.bundles) == 0 {
		return unconcerned, nil
	}
	same := true
	for _, there := range found.bundles {
		same = same && bytes.Equal(there, bundle)
	}
	if same {
		return trusted, nil
	}
	// Another replica may have injected the bundle of a newer Secret.
	if current, err := t.source.isCurrent(ctx, bundle); err != nil || !current {
		return behind, err
	}
	if err := t.mayWrite(found); err != nil {
		return behind, err
	}
	if err := t.patch(ctx, found, bundle); err != nil {
		return behind, err
	}
	t.writes.AllowN(t.clock.Now(), 1)
	log.FromContext(ctx).Info("Wrote the webhook certificate authority", "kind", t.kind, "name", t.name)
	return trusted, nil
}

// mayWrite returns an error if the operator must not write the object.
func (t *target) mayWrite(found webhooks) error {
	for _, annotation := range injectors {
		if found.Annotations[annotation] != "" {
			return fmt.Errorf("another program writes the bundle because of the annotation %q, and that bundle differs from "+
				"the operator's; remove the annotation", annotation)
		}
	}
	if t.writes.TokensAt(t.clock.Now()) < 1 {
		return fmt.Errorf("the operator wrote the bundle at least %d times in a short time, because another client is "+
			"writing a different bundle; stop that client", writeBurst)
	}
	return nil
}

// patchOptions returns the options for every patch that writes a bundle.
func patchOptions() metav1.PatchOptions { return metav1.PatchOptions{FieldManager: names.FieldManager} }
