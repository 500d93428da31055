package manager

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/llamastack/llama-stack-k8s-operator/internal/controller"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/webhook/admission"
	"github.com/llamastack/llama-stack-k8s-operator/internal/webhook/certificate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/webhook/conversion"
)

// notServed is the bind address that disables a server.
const notServed = "0"

// addWebhooks adds the webhook server, and a readiness check for its certificate and its listener. The manager starts
// the server before the caches, and the server's readiness does not depend on them. Before a cache can be filled, the
// API server must convert stored v1alpha1 objects, and it sends conversion requests only to ready pods.
func addWebhooks(
	ctx context.Context, mgr ctrl.Manager, config *rest.Config, options Options, settings controller.Options,
) error {
	if options.WebhookBindAddress == notServed {
		return nil
	}
	server, ready, err := newWebhookServer(mgr, config, options)
	if err != nil {
		return err
	}
	validator := admission.NewValidator(admission.Options{
		Config:        controller.NewConfigReader(settings.OperatorConfig, options.OperatorNamespace),
		RelatedImages: settings.RelatedImages, OpenShift: settings.OpenShift,
		NamespaceLabels: func(ctx context.Context, namespace string) (map[string]string, error) {
			return controller.NamespaceLabels(ctx, settings.Direct, namespace)
		},
	})
	validator.Prepare(ctx)
	server.Register(names.ConversionPath, conversion.Handler(mgr.GetLogger().WithName("conversion")))
	server.Register(names.ValidationPath, &ctrladmission.Webhook{Handler: validator, RecoverPanic: new(true)})
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("add the webhook server: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhooks", ready); err != nil {
		return fmt.Errorf("add the readiness check for the webhooks: %w", err)
	}
	return nil
}

// newWebhookServer returns the server for the bind address in options, and its readiness check.
func newWebhookServer(
	mgr ctrl.Manager, config *rest.Config, options Options,
) (webhook.Server, func(*http.Request) error, error) {
	host, port, err := splitAddress(options.WebhookBindAddress)
	if err != nil {
		return nil, nil, err
	}
	return withCertificate(mgr, config, options, webhook.Options{
		Host: host, Port: port, CertDir: options.WebhookCertPath, TLSOpts: []func(*tls.Config){withoutHTTP2},
	})
}

// withCertificate returns the server with the certificate from the directory in options, or with the operator's own
// certificate.
func withCertificate(
	mgr ctrl.Manager, config *rest.Config, options Options, settings webhook.Options,
) (webhook.Server, func(*http.Request) error, error) {
	if options.WebhookCertPath != "" {
		server := webhook.NewServer(settings)
		return server, server.StartedChecker(), nil
	}
	certificates, err := certificate.New(config, certificate.Options{
		Namespace: options.OperatorNamespace, Service: names.WebhookService,
		Recorder: mgr.GetEventRecorder(names.EventReporter),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("create the webhook certificate: %w", err)
	}
	settings.TLSOpts = append(settings.TLSOpts,
		func(config *tls.Config) { config.GetCertificate = certificates.GetCertificate })
	server := webhook.NewServer(settings)
	listens := server.StartedChecker()
	return certificates.Server(server), func(request *http.Request) error {
		if err := certificates.Check(request); err != nil {
			return err
		}
		return listens(request)
	}, nil
}

// splitAddress returns the host and the port of an address. An empty host means every interface.
func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("--webhook-bind-address %q: must be host:port or :port with a port from 1 to 65535, or %q to disable the webhooks", address, notServed)
	}
	return host, port, nil
}
