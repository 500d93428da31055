package faults_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// references lists the faults in the objects to which the stack refers.
var references = []fault{
	{name: "a Secret is deleted, and restored", strikes: []strike{deleted(`"creds"`, (*stage).sameCreds)}},
	{name: "the base configuration is deleted, and restored", strikes: []strike{deleted(`"base"`, (*stage).sameBase)}},
	{
		name: "a stack's certificate expires, and is renewed", slow: true, fresh: true, rolls: true,
		strikes: []strike{certificateEnds}, after: renewed,
	},
}

// certificateLasts is the time for which a certificate is valid. It is long enough for a stack to become ready, even on
// a slow machine.
const certificateLasts = 30 * time.Second

// certificateEnds waits until the certificate of a running stack expires. The pods must not change, even if the
// operator restarts after the certificate has expired. At the end, the stack receives a new certificate.
func certificateEnds(t *testing.T, th *theatre, s *stage) func() {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, time.Now().Add(certificateLasts))
	s.giveCertificate(t, certificate, key)
	s.apply(t, full)
	eventually(t, "the stack with the certificate is ready", func() error { return s.ready(t) })
	before := s.settled(t)
	expired := func() error { return s.reports(t, `Secret "llama-tls"`, "has a certificate that expired on") }
	eventually(t, "the stack reports the expired certificate", expired)
	th.operator.restart(t)
	eventually(t, "the operator has reconciled the healthy stack", func() error { return th.steady.same(t, th.created) })
	eventually(t, "the stack still reports the expired certificate", expired)
	if diff := cmp.Diff(before, s.pods(t)); diff != "" {
		t.Errorf("the pods changed after the certificate expired (-want +got):\n%s", diff)
	}
	return func() { s.giveCertificate(t, s.certificate, s.key) }
}

// giveCertificate writes a certificate to the stack's Secret.
func (s *stage) giveCertificate(t *testing.T, certificate, key []byte) {
	t.Helper()
	secret := &corev1.Secret{}
	s.get(t, "llama-tls", secret)
	secret.Data = map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	testutil.Must(t, s.Update(t.Context(), secret))
}

// renewed checks that the new certificate caused one rollout of the pods.
func renewed(t *testing.T, s *stage) error {
	t.Helper()
	if rolled := s.rolled(t); rolled != 2 {
		return fmt.Errorf("the pods had %d revisions, want two", rolled)
	}
	return s.ready(t)
}

// deleted deletes an object that the stack refers to, waits until the stack reports the deletion, and creates the
// object again at the end.
func deleted(message string, object func(*stage) client.Object) strike {
	return func(t *testing.T, _ *theatre, s *stage) func() {
		t.Helper()
		testutil.Must(t, s.Delete(t.Context(), object(s)))
		eventually(t, "the stack reports the deleted object", func() error { return s.reports(t, message) })
		return func() { s.create(t, object(s)) }
	}
}

func (s *stage) sameCreds() client.Object { return s.creds() }

func (s *stage) sameBase() client.Object {
	return &corev1.ConfigMap{ObjectMeta: s.named("base"), Data: s.base().Data}
}
