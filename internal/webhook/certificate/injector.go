package certificate

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/informer"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// injector puts the bundle where the API server looks for it.
type injector struct {
	targets  []*target
	metadata metadata.Interface
	clock    clock.Clock
}

// target is one object with a bundle in it. Each replica writes the same bytes, and only when others are there.
type target struct {
	kind     string
	name     string
	resource schema.GroupVersionResource
	get      func(context.Context) (webhooks, error)
	// patch puts the bundle in, unless the object changed since it was read.
	patch func(ctx context.Context, found webhooks, bundle []byte) error

	source  *source
	clock   clock.Clock
	report  *reporter
	writes  *rate.Limiter
	changed signal
}

// webhooks are the calls of an object to our Service.
type webhooks struct {
	metav1.ObjectMeta

	// bundles are what the API server trusts, by the webhook's name.
	bundles map[string][]byte
}

// injectors are annotations by which others are asked to put a bundle into an object. Two of them would never end.
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
		from.published = append(from.published, target.changed)
	}
	return result
}

// run keeps the bundle where it belongs until ctx ends.
func (i *injector) run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	for _, target := range i.targets {
		group.Go(func() { watchOne(ctx, i.metadata, target.resource, "", target.name, target.changed) })
		group.Go(func() { loop(ctx, i.clock, target.changed, target.look) })
	}
}

// look puts the bundle into the object where it is another one, and returns how long to wait.
func (t *target) look(ctx context.Context) time.Duration {
	current := t.source.current.Load()
	if current == nil {
		return longestPause // until there is a bundle
	}
	state, err := t.inject(ctx, current.bundle)
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		if !informer.Unavailable(err) && !apierrors.IsConflict(err) { // then nobody knows
			caInjected.WithLabelValues(t.kind).Set(0)
		}
		return t.report.failed(ctx, fmt.Errorf("put the webhook certificate authority into %s %q: %w", t.kind, t.name, err))
	case state == trusted:
		caInjected.WithLabelValues(t.kind).Set(1)
	case state == unconcerned:
		caInjected.DeleteLabelValues(t.kind)
	case state == behind:
		return quietRetry
	}
	t.report.works()
	return longestPause
}

// state is what a look at an object finds, or makes of it.
type state int

const (
	// unconcerned: the object does not exist, or does not call the operator.
	unconcerned state = iota
	// behind: the replica has an older bundle than the Secret, and looks again when it has the newer one.
	behind
	// trusted: the object has the bundle.
	trusted
)

// inject puts the bundle in where another one is.
func (t *target) inject(ctx context.Context, bundle []byte) (state, error) {
	found, err := t.get(ctx)
	if apierrors.IsNotFound(err) {
		return unconcerned, nil
	}
	if err != nil || len(found.bundles) == 0 {
		return unconcerned, err
	}
	same := true
	for _, there := range found.bundles {
		same = same && bytes.Equal(there, bundle)
	}
	if same {
		return trusted, nil
	}
	// Another replica may have put in the bundle of a newer Secret.
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
	log.FromContext(ctx).Info("Put the webhook certificate authority in", "kind", t.kind, "name", t.name)
	return trusted, nil
}

// mayWrite returns why the object is not to be written.
func (t *target) mayWrite(found webhooks) error {
	for _, annotation := range injectors {
		if found.Annotations[annotation] != "" {
			return fmt.Errorf("the annotation %q leaves that to another program, whose bundle is not the operator's", annotation)
		}
	}
	if t.writes.TokensAt(t.clock.Now()) < 1 {
		return fmt.Errorf("it was written more than %d times in a row: somebody else puts another bundle there", writeBurst)
	}
	return nil
}

// patchOptions are those of every patch.
func patchOptions() metav1.PatchOptions { return metav1.PatchOptions{FieldManager: names.FieldManager} }
