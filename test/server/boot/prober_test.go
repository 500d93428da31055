//go:build server

package boot

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// checkProber checks that the operator's prober returns the server's version, the expected providers and the health of
// every provider, and that the result contains no secrets.
func checkProber(t *testing.T, server *llamaStack, rel *release.Release, want []provider, secrets []string) {
	t.Helper()
	answer := server.probed(t)
	if answer.Version != rel.Version {
		t.Errorf("the prober gets the version %q, want %q", answer.Version, rel.Version)
	}
	for _, provider := range want {
		i := slices.IndexFunc(answer.Providers, func(p v1alpha2.ProviderInfo) bool {
			return p.API == provider.API && p.ProviderID == provider.ID && p.ProviderType == provider.Type
		})
		if _, ok := rel.API(provider.API); ok && i < 0 {
			t.Errorf("the prober does not get the provider %+v, only %+v", provider, answer.Providers)
		}
	}
	health := map[v1alpha2.ProviderHealthStatus]int{}
	for _, p := range answer.Providers {
		health[p.Health]++
		if p.Health.Status == v1alpha2.ProviderHealthUnknown {
			t.Errorf("the prober does not recognize the health of %+v", p)
		}
	}
	t.Logf("the prober gets %d providers; their numbers by health are %v", len(answer.Providers), health)
	if text := fmt.Sprintf("%+v", answer); slices.ContainsFunc(secrets,
		func(s string) bool { return strings.Contains(text, s) }) {
		t.Error("the result of the prober contains a secret")
	}
}

// probed returns the result of the operator's prober for a server.
func (s *llamaStack) probed(t *testing.T) probe.Answer {
	t.Helper()
	address, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	target := probe.Target{
		Stack: types.NamespacedName{Namespace: "default", Name: "my"}, Rollout: "1", Port: 8321, MCP: true,
	}
	if address.Scheme == "https" {
		target.TLS, target.Certificate = true, s.fingerprint(t, address.Host)
	}
	told := make(chan struct{}, 10)
	prober := probe.New(probe.Options{
		Timeout: requestTimeout,
		Locate:  func(context.Context, probe.Target) (netip.Addr, error) { return netip.MustParseAddr("10.0.0.1"), nil },
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address.Host)
		},
		Notify: func(context.Context, types.NamespacedName) { told <- struct{}{} },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- prober.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	deadline := time.After(requestTimeout)
	for {
		answer := prober.Ask(target)
		if answer.Concluded {
			return answer
		}
		select {
		case <-told:
		case <-deadline:
			t.Fatalf("the prober gets only %+v", answer)
		}
	}
}

// fingerprint returns the SHA-256 of the certificate that the test's client trusts.
func (s *llamaStack) fingerprint(t *testing.T, address string) string {
	t.Helper()
	transport, ok := s.client.Transport.(*http.Transport)
	if !ok {
		t.Fatalf("a client with a %T", s.client.Transport)
	}
	dialer := tls.Dialer{Config: transport.TLSClientConfig}
	connection, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	sum := sha256.Sum256(connection.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw)
	return hex.EncodeToString(sum[:])
}
