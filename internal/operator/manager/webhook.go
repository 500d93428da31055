package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/admission"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/certificate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/listener"
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
		Config:        resolve.NewOperatorConfig(settings.OperatorConfig, options.OperatorNamespace).Config,
		RelatedImages: settings.RelatedImages, OpenShift: settings.OpenShift, Writer: settings.Direct,
		NamespaceLabels: func(ctx context.Context, namespace string) (map[string]string, error) {
			return resolve.NamespaceLabels(ctx, settings.Direct, namespace)
		},
		Claim: func(ctx context.Context, key client.ObjectKey) (*corev1.PersistentVolumeClaim, error) {
			claim := &corev1.PersistentVolumeClaim{}
			err := settings.Direct.Get(ctx, key, claim)
			if apierrors.IsNotFound(err) {
				return nil, nil //nolint:nilnil // nil means that the claim does not exist
			}
			return claim, err
		},
		ConfigMap: func(ctx context.Context, key client.ObjectKey) (*corev1.ConfigMap, error) {
			configMap := &corev1.ConfigMap{}
			return configMap, settings.Direct.Get(ctx, key, configMap)
		},
	})
	validator.Prepare(ctx)
	server.Register(names.ConversionPath, conversion.Handler(limited(mgr.GetLogger().WithName("conversion"))))
	reviews := limited(mgr.GetLogger().WithName("admission"))
	server.Register(names.ValidationPath, admission.Handler(&ctrladmission.Webhook{
		Handler: validator, RecoverPanic: new(true),
		LogConstructor: func(logr.Logger, *ctrladmission.Request) logr.Logger { return reviews },
	}))
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("add the webhook server: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhooks", ready); err != nil {
		return fmt.Errorf("add the readiness check for the webhooks: %w", err)
	}
	return nil
}

// newWebhookServer returns the server for the bind address in options, and its readiness check. The server has the
// certificate from the directory in options, or the operator's own certificate.
func newWebhookServer(
	mgr ctrl.Manager, config *rest.Config, options Options,
) (webhook.Server, func(*http.Request) error, error) {
	if err := checkAddress(options.WebhookBindAddress); err != nil {
		return nil, nil, err
	}
	server := &webhookServer{Server: webhook.NewServer(webhook.Options{}), address: options.WebhookBindAddress}
	if options.WebhookCertPath != "" {
		var err error
		server.watcher, err = certwatcher.New(filepath.Join(options.WebhookCertPath, corev1.TLSCertKey),
			filepath.Join(options.WebhookCertPath, corev1.TLSPrivateKeyKey))
		if err != nil {
			return nil, nil, fmt.Errorf("read the certificate in --webhook-cert-path %q: %w", options.WebhookCertPath, err)
		}
		server.certificate = server.watcher.GetCertificate
		return server, server.check, nil
	}
	certificates, err := certificate.New(config, certificate.Options{
		Namespace: options.OperatorNamespace, Service: names.WebhookService,
		Recorder: mgr.GetEventRecorder(names.EventReporter),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("create the webhook certificate: %w", err)
	}
	server.certificate = certificates.GetCertificate
	return certificates.Server(server), func(request *http.Request) error {
		if err := certificates.Check(request); err != nil {
			return err
		}
		return server.check(request)
	}, nil
}

// webhookServer serves the webhooks that are registered with the embedded server, which itself does not start, because
// it has no bound on the number of connections.
type webhookServer struct {
	webhook.Server

	address     string
	certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// watcher reads the certificate again when it changes. Nil means that another part of the operator does so.
	watcher *certwatcher.CertWatcher
	listens atomic.Bool
}

// Start serves until ctx ends.
func (s *webhookServer) Start(ctx context.Context) error {
	open, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("listen on --webhook-bind-address: %w", err)
	}
	s.listens.Store(true)
	config := &tls.Config{GetCertificate: s.certificate, MinVersion: tls.VersionTLS12}
	withoutHTTP2(config)
	group, ctx := errgroup.WithContext(ctx)
	if s.watcher != nil {
		group.Go(func() error { return s.watcher.Start(ctx) })
	}
	group.Go(func() error { return listener.New("webhook", open, config, s.WebhookMux(), listener.Calls).Start(ctx) })
	return group.Wait()
}

// check is the readiness check. It makes no connection, because a client that opens many connections could prevent it.
func (s *webhookServer) check(*http.Request) error {
	if !s.listens.Load() {
		return errors.New("the webhook server does not listen yet")
	}
	return nil
}

// checkAddress returns an error for an address that is not host:port. An empty host means every interface.
func checkAddress(address string) error {
	_, text, err := net.SplitHostPort(address)
	port := 0
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 1 || port > 65535 {
		return fmt.Errorf("--webhook-bind-address %q: must be host:port or :port with a port from 1 to 65535, or %q to disable the webhooks", address, notServed)
	}
	return nil
}
