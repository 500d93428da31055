package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// serverName is the name that the API server expects in the certificate.
const serverName = names.WebhookService + "." + names.OperatorNamespace + ".svc"

// rotate makes the operator renew the serving certificate, adds a new authority to the Secret, and then makes the
// operator renew the certificate with this authority. Clients send requests during this time, and every request must
// succeed.
func (c *cluster) rotate(t *testing.T, first authority, replicas []*operator) {
	t.Helper()
	c.strict(t)
	load := c.startLoad(t)

	c.age(t, first)
	load.goOn(t)

	// The API server must trust a new authority for an hour before the operator signs a certificate with it.
	second := newAuthority(t, ours, 2*time.Hour)
	change(t, c, c.secret, func(secret *corev1.Secret) {
		secret.Data[bundleKey] = append(secret.Data[bundleKey], encodeCertificate(second.certificate)...)
		secret.Data[authorityKeysKey] = append(secret.Data[authorityKeysKey], encodeKey(t, second.key)...)
	})
	testutil.Within(t, patience, func() error { return c.trustedBy(t, second) })
	load.goOn(t)

	c.age(t, first)
	testutil.Within(t, patience, func() error { return c.servedBy(t, second, replicas) })
	// The API server opens a new connection when the bundle changes, even if only one line differs.
	change(t, c, c.definition, func(definition *apiextensionsv1.CustomResourceDefinition) {
		config := definition.Spec.Conversion.Webhook.ClientConfig
		config.CABundle = append(config.CABundle, '\n')
	})
	load.goOn(t)
	testutil.Within(t, patience, func() error { return c.trusted(t) })
	load.goOn(t)
	load.end(t)
	c.Install(t) // restores the webhook configuration from the manifest
}

// age replaces the serving certificate with a certificate that is 61 days old, and waits until the operator has issued
// a new certificate.
func (c *cluster) age(t *testing.T, signer authority) {
	t.Helper()
	old, key := signer.issue(t, 61*day)
	change(t, c, c.secret, func(secret *corev1.Secret) {
		secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey] = old, key
	})
	testutil.Within(t, patience, func() error {
		if bytes.Equal(c.secret(t).Data[corev1.TLSCertKey], old) {
			return errors.New("the certificate is not renewed")
		}
		return nil
	})
}

// trustedBy returns an error until the bundles of both webhooks also contain the given authority.
func (c *cluster) trustedBy(t *testing.T, a authority) error {
	t.Helper()
	if !bytes.Contains(c.definition(t).Spec.Conversion.Webhook.ClientConfig.CABundle, encodeCertificate(a.certificate)) {
		return errors.New("the bundle in the definition does not contain the new authority")
	}
	return c.trusted(t)
}

// servedBy returns an error until every replica uses a certificate from the given authority.
func (c *cluster) servedBy(t *testing.T, a authority, replicas []*operator) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	for _, o := range replicas {
		dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: serverName, MinVersion: tls.VersionTLS12}}
		connection, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(c.Address, strconv.Itoa(int(o.Port))))
		if err != nil {
			return fmt.Errorf("call the replica at port %d: %w", o.Port, err)
		}
		_ = connection.Close()
	}
	return nil
}

// strict changes the validating webhook so that a request fails if the webhook call fails. Otherwise, the test could
// not detect such a failure. The function also sets a timeout that is long enough for a busy machine.
func (c *cluster) strict(t *testing.T) {
	t.Helper()
	change(t, c, c.configuration, func(configuration *admissionv1.ValidatingWebhookConfiguration) {
		fail := admissionv1.Fail
		configuration.Webhooks[0].FailurePolicy, configuration.Webhooks[0].TimeoutSeconds = &fail, new(int32(30))
	})
}

// load continuously lists the stacks in both versions and writes two v1alpha1 stacks.
type load struct {
	cancel context.CancelFunc
	group  sync.WaitGroup
	calls  []atomic.Int64
}

func (c *cluster) startLoad(t *testing.T) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	list := func(version string) func(int64) error {
		return func(int64) error {
			_, err := c.list(t, version)
			return err
		}
	}
	requests := []func(int64) error{
		list(v1alpha1.GroupVersion.Version), list(v1alpha2.GroupVersion.Version),
		func(i int64) error {
			return c.edit(t, v1alpha1.GroupVersion.Version, running, fmt.Sprintf(`{"metadata":{"labels":{"turn":"%d"}}}`, i))
		},
		func(i int64) error {
			return c.edit(t, v1alpha1.GroupVersion.Version, edited, fmt.Sprintf(`{"spec":{"server":{"containerSpec":{"env":[{"name":"A","value":"%d"}]}}}}`, i))
		},
	}
	l := &load{cancel: cancel, calls: make([]atomic.Int64, len(requests))}
	for i, request := range requests {
		l.group.Go(func() {
			for ctx.Err() == nil {
				if err := request(l.calls[i].Load()); err != nil && ctx.Err() == nil {
					t.Errorf("request %d of kind %d: %v", l.calls[i].Load(), i, err)
					return
				}
				l.calls[i].Add(1)
			}
		})
	}
	t.Cleanup(func() { cancel(); l.group.Wait() })
	l.goOn(t)
	return l
}

// goOn waits until each kind of request has been made a few more times.
func (l *load) goOn(t *testing.T) {
	t.Helper()
	for i := range l.calls {
		until := l.calls[i].Load() + 5
		testutil.Within(t, patience, func() error {
			if got := l.calls[i].Load(); got < until && !t.Failed() {
				return fmt.Errorf("there were %d requests of kind %d, want %d", got, i, until)
			}
			return nil
		})
	}
}

func (l *load) end(t *testing.T) {
	t.Helper()
	l.cancel()
	l.group.Wait()
	for i := range l.calls {
		t.Logf("made %d requests of kind %d", l.calls[i].Load(), i)
	}
}
