package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	stdlog "log"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// load calls the webhooks of the replicas as the API server does, with the bundle of the CustomResourceDefinition.
type load struct {
	bench     *bench
	addresses []string
	roots     atomic.Pointer[trust]
	calls     atomic.Int64
}

type trust struct {
	text string
	pool *x509.CertPool
}

func (l *load) call(address string, roots *x509.CertPool) error {
	config := &tls.Config{RootCAs: roots, ServerName: name, Time: l.bench.clock.Now, MinVersion: tls.VersionTLS12}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport, Timeout: patience}).Get("https://" + address)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (l *load) follow(t *testing.T) string {
	t.Helper()
	text := l.bench.conversionTrusts(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(text))
	l.roots.Store(&trust{text: text, pool: pool})
	return text
}

// serve answers requests over TLS with a replica's certificate until the test ends, and returns the address.
func serve(t *testing.T, replica *Certificates) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		GetCertificate: replica.GetCertificate,
		MinVersion:     tls.VersionTLS12,
	})
	testutil.Must(t, err)
	server := &http.Server{
		Handler: http.NotFoundHandler(), ReadHeaderTimeout: patience,
		ErrorLog: stdlog.New(io.Discard, "", 0),
	}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() { _ = server.Close(); group.Wait() })
	return listener.Addr().String()
}

// Clients continuously send requests while the serving certificate and the authority are renewed. No request fails.
func TestRotationUnderLoad(t *testing.T) {
	b := newBench(t)
	begin := start.Add(-authorityLife * 2 / 3)
	secret := b.secret()
	secret.Type, secret.Labels = corev1.SecretTypeTLS, map[string]string{names.LabelManagedBy: names.ManagedBy}
	secret.Data = made(t, begin, start.Add(-59*day))
	b.clock.SetTime(start.Add(-time.Minute))
	b.create(t, secret, definition(service), configuration(service))
	replicas := []*Certificates{b.start(t, names.OperatorServiceAccount), b.start(t, names.OperatorServiceAccount)}
	b.eventuallyTrusted(t, replicas...)
	l := &load{bench: b}
	for _, replica := range replicas {
		l.addresses = append(l.addresses, serve(t, replica))
	}
	first := l.follow(t)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				if err := l.call(l.addresses[i%len(l.addresses)], l.roots.Load().pool); err != nil {
					t.Errorf("at %v: %v", b.clock.Since(start), err)
				}
				l.calls.Add(1)
			}
		})
	}
	bundles, certificates := []string{first}, map[string]bool{}
	for _, step := range []time.Duration{time.Minute, settled, day, 20 * day, 20 * day, 20 * day, 20 * day, 11 * day} {
		b.clock.Step(step)
		called := l.calls.Load()
		testutil.Eventually(t, "the replicas to renew", func() (bool, error) {
			rest := true
			for _, replica := range replicas {
				if current := replica.source.current.Load(); !current.until.After(b.clock.Now()) {
					replica.source.changed.send() // the replica may have read the clock just before the step
					rest = false
				}
			}
			return rest && l.calls.Load() > called+8, nil
		})
		b.eventuallyTrusted(t, replicas...)
		if text := l.follow(t); text != bundles[len(bundles)-1] {
			bundles = append(bundles, text)
		}
		current, _ := replicas[0].GetCertificate(nil)
		certificates[current.Leaf.SerialNumber.String()] = true
	}
	if err := l.call(l.addresses[0], x509.NewCertPool()); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("the error of a client that does not trust the operator is %v", err)
	}
	if err := l.call(l.addresses[0], l.roots.Load().pool); err != nil {
		t.Errorf("the error of the next client is %v", err)
	}
	cancel()
	group.Wait()
	t.Logf("%d calls, %d serving certificates", l.calls.Load(), len(certificates))
	if len(bundles) != 3 || len(certificates) != 3 || bundles[1] != bundles[0]+bundles[2] {
		t.Errorf("there were %d serving certificates and the bundles %q", len(certificates), bundles)
	}
}
