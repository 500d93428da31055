package certificate

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/informer"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=llamastackdistributions.llamastack.io,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions/status,resourceNames=llamastackdistributions.llamastack.io,verbs=patch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=llama-stack-k8s-operator-validating-webhook-configuration,verbs=get;list;watch;patch

// target is one object from which the API server reads the bundle. A replica writes only if the object contains a
// different bundle, and every replica writes the same bytes.
type target struct {
	worker

	kind    string
	objects dynamic.ResourceInterface
	// service is the operator's Service.
	service types.NamespacedName
	source  *source
	tells   *rate.Limiter
	// settled is set permanently after one of three outcomes: the bundle is injected, is not needed, or cannot be
	// injected.
	settled atomic.Bool
}

// injectors lists the annotations that make other programs inject a bundle into an object. The operator does not write
// a bundle into such an object, because the operator and the other program would overwrite each other's bundle again
// and again.
var injectors = []string{
	"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca",
	"service.beta.openshift.io/inject-cabundle",
}

func newTarget(
	c clients, options Options, from *source, resource schema.GroupVersionResource, kind, name string,
) *target {
	t := &target{
		worker: newWorker(c.metadata.Resource(resource), name, options, "InjectBundle"),
		kind:   kind, objects: c.objects.Resource(resource), source: from,
		service: types.NamespacedName{Namespace: options.Namespace, Name: options.Service},
		tells:   rate.NewLimiter(rate.Every(writePause), writeBurst),
	}
	from.published = append(from.published, t.changed)
	return t
}

// look injects the bundle into the object if the object contains a different bundle, and returns the pause before the
// next call.
func (t *target) look(ctx context.Context) time.Duration {
	current := t.source.current.Load()
	if current == nil {
		return longestPause // A new bundle ends the pause.
	}
	found, err := t.read(ctx)
	state := behind
	if err == nil {
		state, err = t.inject(ctx, found, current.bundle)
	}
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

// failed reports that the bundle cannot be injected, and returns the pause before the next attempt.
func (t *target) failed(ctx context.Context, found *webhooks, err error) time.Duration {
	err = fmt.Errorf("write the webhook certificate authority to %s %q: %w", t.kind, t.name, err)
	pause := t.report.failed(ctx, err)
	if informer.Unavailable(err) || apierrors.IsConflict(err) {
		return pause // the state of the object is unknown
	}
	t.settled.Store(true)
	caInjected.WithLabelValues(t.kind).Set(0)
	if len(found.bundles(t.service)) > 0 {
		t.condition(ctx, found, err.Error())
	}
	return pause
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
func (t *target) inject(ctx context.Context, found *webhooks, bundle []byte) (state, error) {
	bundles := found.bundles(t.service)
	if len(bundles) == 0 {
		return unconcerned, nil
	}
	same := true
	for _, there := range bundles {
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
func (t *target) mayWrite(found *webhooks) error {
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
