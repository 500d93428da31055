package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/pki"
)

// pollInterval is the interval between readiness requests to a component.
const pollInterval = 100 * time.Millisecond

// newClient returns an HTTP client that trusts the control plane's authority and authenticates as the pair's user.
func newClient(authority []byte, user pki.Pair) (*http.Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("reading the control plane's authority: no certificate")
	}
	certificate, err := tls.X509KeyPair(user.Certificate, user.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the administrator's certificate: %w", err)
	}
	return &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: roots, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
		}},
	}, nil
}

// await sends requests to the given URL until the status of a response is 200. If ctx is done first, the error contains
// the last response.
func await(ctx context.Context, client *http.Client, target string) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := ask(ctx, client, target)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (last answer: %w)", target, context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

func ask(ctx context.Context, client *http.Client, target string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
