package manager

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	certutil "k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/manager/scrape"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/listener"
)

// checked is a manager that collects the health checks. Any pod can connect to the ports for health and metrics.
// controller-runtime's servers on these ports accept any number of connections, and the head of a request can need tens
// of megabytes, so package listener serves these ports too.
type checked struct {
	ctrl.Manager

	live, ready map[string]healthz.Checker
}

// AddHealthzCheck adds a liveness check.
func (c *checked) AddHealthzCheck(name string, check healthz.Checker) error {
	c.live[name] = check
	return nil
}

// AddReadyzCheck adds a readiness check.
func (c *checked) AddReadyzCheck(name string, check healthz.Checker) error {
	c.ready[name] = check
	return nil
}

// serveHealth adds the server for the health checks.
func (c *checked) serveHealth(ctx context.Context, address string) error {
	paths := http.NewServeMux()
	for path, checks := range map[string]map[string]healthz.Checker{"/healthz": c.live, "/readyz": c.ready} {
		handler := http.StripPrefix(path, &healthz.Handler{Checks: checks})
		paths.Handle(path, handler)
		paths.Handle(path+"/", handler)
	}
	return serve(ctx, c, "health", address, nil, paths)
}

// serveMetrics adds the server for the metrics.
func serveMetrics(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.MetricsBindAddress == notServed {
		return nil
	}
	handler := promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
	var config *tls.Config
	if options.MetricsSecure {
		filter, err := scrape.Filter(mgr.GetConfig(), mgr.GetHTTPClient())
		if err != nil {
			return fmt.Errorf("create the filter for the metrics: %w", err)
		}
		if handler, err = filter(mgr.GetLogger().WithName("metrics"), handler); err != nil {
			return fmt.Errorf("create the filter for the metrics: %w", err)
		}
		if config, err = metricsTLS(mgr, options); err != nil {
			return err
		}
	}
	paths := http.NewServeMux()
	paths.Handle("/metrics", handler)
	return serve(ctx, mgr, "metrics", options.MetricsBindAddress, config, paths)
}

// metricsTLS returns a configuration with the certificate from the directory in options, or with a self-signed one.
func metricsTLS(mgr ctrl.Manager, options Options) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	withoutHTTP2(config)
	if options.MetricsCertPath != "" {
		watcher, err := certwatcher.New(
			filepath.Join(options.MetricsCertPath, cmp.Or(options.MetricsCertName, corev1.TLSCertKey)),
			filepath.Join(options.MetricsCertPath, cmp.Or(options.MetricsCertKey, corev1.TLSPrivateKeyKey)))
		if err != nil {
			return nil, fmt.Errorf("read the certificate in --metrics-cert-path %q: %w", options.MetricsCertPath, err)
		}
		if err := mgr.Add(watcher); err != nil {
			return nil, fmt.Errorf("watch the certificate in --metrics-cert-path: %w", err)
		}
		config.GetCertificate = watcher.GetCertificate
		return config, nil
	}
	certificate, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, fmt.Errorf("create a certificate for the metrics: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate for the metrics: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// serve adds a server for clients that are not authenticated. The manager starts it before the caches.
func serve(
	ctx context.Context, mgr ctrl.Manager, name, address string, config *tls.Config, handler http.Handler,
) error {
	if address == "" || address == notServed {
		return nil
	}
	open, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for %s: %w", name, err)
	}
	if err := mgr.Add(listener.New(name, open, config, handler, listener.Few)); err != nil {
		return fmt.Errorf("add the server for %s: %w", name, err)
	}
	return nil
}
