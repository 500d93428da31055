package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/dynamic"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const definitionKind = "CustomResourceDefinition"

// Options are the options of Certificates.
type Options struct {
	// Namespace is the operator's namespace, which contains the Secret and the Service.
	Namespace string
	// Service is the name of the Service through which the API server reaches the webhooks. The serving certificate is for
	// <Service>.<Namespace>.svc. Certificates injects the CA bundle only into objects that name this Service.
	Service string
	// Recorder records an event on the affected object, or on the Secret, when something fails. Nil means no events.
	Recorder events.EventRecorder
	// Clock is the clock for creating and renewing certificates. Nil means the real clock.
	Clock clock.Clock
}

// Certificates creates, renews and serves the webhook certificate, and injects the CA bundle. It runs in every replica.
type Certificates struct {
	source *source
	// targets are the objects from which the API server reads the bundle.
	targets []*target
}

// New returns Certificates for the API server in `config`. It makes no API call.
func New(config *rest.Config, options Options) (*Certificates, error) {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	c, err := newClients(config)
	if err != nil {
		return nil, err
	}
	from := newSource(c, options)
	return &Certificates{source: from, targets: []*target{
		newTarget(c, options, from, apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"),
			definitionKind, names.CustomResourceDefinition),
		newTarget(c, options, from, admissionv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"),
			"ValidatingWebhookConfiguration", names.ValidatingWebhookConfiguration),
	}}, nil
}

// Start runs until ctx ends, and then returns nil. It reports failures in the log, in events and in metrics, and
// retries. It does not wait for caches or for a lease.
func (c *Certificates) Start(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() { c.source.run(ctx, c.source.look) })
	for _, target := range c.targets {
		group.Go(func() { target.run(ctx, target.look) })
	}
	group.Wait()
	return nil
}

// GetCertificate returns the current serving certificate, for tls.Config. It returns an error if there is none yet.
func (c *Certificates) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	current := c.source.current.Load()
	if current == nil {
		return nil, errNoCertificate
	}
	return current.serving, nil
}

// Check is a readiness check. It returns an error until there is a serving certificate and the first attempt to make
// the API server trust the certificate is over. Before that, the API server rejects stacks that need conversion. Unless
// this attempt fails, a user who waits for the operator to become ready can therefore write stacks in every version. A
// ready replica remains ready.
func (c *Certificates) Check(*http.Request) error {
	if c.source.current.Load() == nil {
		return errNoCertificate
	}
	for _, target := range c.targets {
		if !target.settled.Load() {
			return fmt.Errorf("the webhook certificate authority is not yet in %s %q", target.kind, target.name)
		}
	}
	return nil
}

// CABundle returns the certificate authorities that clients have to trust, in PEM format. It returns nil while there is
// no certificate.
func (c *Certificates) CABundle() []byte {
	current := c.source.current.Load()
	if current == nil {
		return nil
	}
	return current.bundle
}

// Server returns the webhook server combined with the certificates. A manager starts both before its caches, and stops
// both after its caches.
func (c *Certificates) Server(server webhook.Server) webhook.Server {
	return &withCertificates{Server: server, certificates: c}
}

type withCertificates struct {
	webhook.Server

	certificates *Certificates
}

// Start runs the server and the certificates until ctx ends or the server fails.
func (w *withCertificates) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.certificates.Start(ctx) })
	group.Go(func() error { return w.Server.Start(ctx) })
	return group.Wait()
}

// clients holds the API clients, which share one connection pool.
type clients struct {
	core     coreclient.SecretsGetter
	objects  dynamic.Interface
	metadata metadata.Interface
}

func newClients(config *rest.Config) (clients, error) {
	calls, err := rest.HTTPClientFor(config)
	if err != nil {
		return clients{}, fmt.Errorf("create a client for certificates: %w", err)
	}
	core, coreErr := coreclient.NewForConfigAndClient(config, calls)
	objects, objectsErr := dynamic.NewForConfigAndClient(config, calls)
	watches, watchesErr := metadata.NewForConfigAndClient(metadata.ConfigFor(config), calls)
	if err := errors.Join(coreErr, objectsErr, watchesErr); err != nil {
		return clients{}, fmt.Errorf("create clients for certificates: %w", err)
	}
	return clients{core: core, objects: objects, metadata: watches}, nil
}
