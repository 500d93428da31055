package certificate

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Options say for whom the certificates are.
type Options struct {
	// Namespace is the operator's: that of the Secret and of the Service.
	Namespace string
	// Service is the name of the Service by which the API server reaches the webhooks. The serving certificate is for
	// <Service>.<Namespace>.svc, and only a configuration that names this Service gets the bundle.
	Service string
	// Recorder records an event on the Secret when something fails. Nil: no events.
	Recorder events.EventRecorder
	// Clock is the time by which certificates are made and renewed. Nil: the real one.
	Clock clock.Clock
}

// Certificates make, renew, serve and inject the certificate of the webhooks. One runs in every replica.
type Certificates struct {
	source   *source
	injector *injector
}

// New makes certificates for the API server that config reaches. It makes no call.
func New(config *rest.Config, options Options) (*Certificates, error) {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	c, err := newClients(config)
	if err != nil {
		return nil, err
	}
	result := &Certificates{source: newSource(c, options)}
	result.injector = newInjector(c, options, result.source)
	return result, nil
}

// Start works until ctx ends, and returns nil then: failures are told in the log, by events and by metrics, and tried
// again. It does not wait for caches or for a lease.
func (c *Certificates) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { c.source.run(ctx); return nil })
	group.Go(func() error { c.injector.run(ctx); return nil })
	return group.Wait()
}

// GetCertificate returns the current serving certificate, for tls.Config. It is an error that there is none yet.
func (c *Certificates) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	current := c.source.current.Load()
	if current == nil {
		return nil, errNoCertificate
	}
	return current.serving, nil
}

// Check is a readiness check: an error until there is a serving certificate, and until the API server was told to trust it
// or cannot be told. Who waits for a ready operator may write stacks in every version then: before that, the API server
// refuses those that it has to convert. Once ready, a replica stays so.
func (c *Certificates) Check(*http.Request) error {
	if c.source.current.Load() == nil {
		return errNoCertificate
	}
	return c.injector.check()
}

// CABundle returns the authorities that clients have to trust, in PEM form; nil while there is no certificate.
func (c *Certificates) CABundle() []byte {
	current := c.source.current.Load()
	if current == nil {
		return nil
	}
	return current.bundle
}

// Server returns the webhook server with the certificates beside it: a manager starts both before its caches, and ends
// both after them.
func (c *Certificates) Server(server webhook.Server) webhook.Server {
	return &withCertificates{Server: server, certificates: c}
}

type withCertificates struct {
	webhook.Server

	certificates *Certificates
}

// Start runs both until ctx ends or the server fails.
func (w *withCertificates) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.certificates.Start(ctx) })
	group.Go(func() error { return w.Server.Start(ctx) })
	return group.Wait()
}

// clients share one pool of connections.
type clients struct {
	core        coreclient.SecretsGetter
	admission   admissionclient.ValidatingWebhookConfigurationsGetter
	definitions apiextensionsclient.CustomResourceDefinitionsGetter
	metadata    metadata.Interface
}

func newClients(config *rest.Config) (clients, error) {
	calls, err := rest.HTTPClientFor(config)
	if err != nil {
		return clients{}, fmt.Errorf("make a client for certificates: %w", err)
	}
	core, err := coreclient.NewForConfigAndClient(config, calls)
	if err != nil {
		return clients{}, fmt.Errorf("make a client of Secrets: %w", err)
	}
	admission, err := admissionclient.NewForConfigAndClient(config, calls)
	if err != nil {
		return clients{}, fmt.Errorf("make a client of webhook configurations: %w", err)
	}
	definitions, err := apiextensionsclient.NewForConfigAndClient(config, calls)
	if err != nil {
		return clients{}, fmt.Errorf("make a client of CustomResourceDefinitions: %w", err)
	}
	watches, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), calls)
	if err != nil {
		return clients{}, fmt.Errorf("make a client of metadata: %w", err)
	}
	return clients{core: core, admission: admission, definitions: definitions, metadata: watches}, nil
}
