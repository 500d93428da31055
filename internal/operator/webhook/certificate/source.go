package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

var errNoCertificate = errors.New("the webhooks do not have a serving certificate yet")

// These constants limit a replica's writes: a few in a burst, then one per writePause. Without a limit, replicas whose
// clocks differ by months would replace each other's certificates all the time.
const (
	writePause = 10 * time.Second
	writeBurst = 5
)

// source manages the Secret and the certificates that are served from it.
type source struct {
	worker

	secrets   coreclient.SecretInterface
	namespace string
	dnsNames  []string
	// published are the signals to the users of the bundle.
	published []signal
	current   atomic.Pointer[served]
}

// served is the part of a Secret that is in use.
type served struct {
	serving *tls.Certificate
	bundle  []byte
	// until is the next time at which an authority or the certificate may have to be renewed or removed.
	until time.Time
}

func newSource(c clients, options Options) *source {
	watched := c.metadata.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(options.Namespace)
	return &source{
		worker:  newWorker(watched, names.WebhookCertificateSecret, options, "RenewCertificate"),
		secrets: c.core.Secrets(options.Namespace), namespace: options.Namespace,
		dnsNames: []string{options.Service + "." + options.Namespace + ".svc"},
	}
}

// look reads the Secret, renews the certificates that are due, and returns the pause before the next call.
func (s *source) look(ctx context.Context) time.Duration {
	now := s.clock.Now()
	next, err := s.renew(ctx, now)
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		return s.report.failed(ctx, fmt.Errorf("manage the webhook certificate in Secret %q: "+
			"%w", names.WebhookCertificateSecret, err))
	}
	s.report.works()
	return next.Sub(now)
}

// renew renews the content of the Secret if necessary, publishes the content, and returns the time of the next renewal
// check.
func (s *source) renew(ctx context.Context, now time.Time) (time.Time, error) {
	secret, err := s.secret(ctx)
	if err != nil {
		return time.Time{}, err
	}
	found := read(secret.Data)
	wanted, next, err := renew(found, now, s.dnsNames)
	if err != nil {
		return time.Time{}, err
	}
	data, err := wanted.data()
	if err != nil {
		return time.Time{}, err
	}
	if !maps.EqualFunc(secret.Data, data, bytes.Equal) {
		if found.serves(now, s.dnsNames) { // The replica serves this certificate until the write succeeds.
			s.publish(found, next)
		}
		if err := s.write(ctx, secret, data, now); err != nil {
			return time.Time{}, err
		}
		log.FromContext(ctx).Info("Renewed the webhook certificate", "secret", names.WebhookCertificateSecret,
			"notAfter", wanted.serving.Leaf.NotAfter, "authorities", len(wanted.authorities))
	}
	s.publish(wanted, next)
	return next, nil
}

// secret returns the Secret, or a new one if it does not exist. It returns an error if the Secret does not belong to
// the operator.
func (s *source) secret(ctx context.Context) (*corev1.Secret, error) {
	secret, err := s.secrets.Get(ctx, names.WebhookCertificateSecret, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return s.newSecret(), nil
	case err != nil:
		return nil, err
	}
	s.report.regards.UID = secret.UID
	if !isManaged(secret) {
		return nil, fmt.Errorf("the Secret has the type %q and does not belong to the operator; delete the Secret so that the operator can create its own", secret.Type)
	}
	return secret, nil
}

// isCurrent reports whether the Secret contains this bundle. If the Secret does not contain it, isCurrent makes the
// source read the Secret again.
func (s *source) isCurrent(ctx context.Context, bundle []byte) (bool, error) {
	secret, err := s.secrets.Get(ctx, names.WebhookCertificateSecret, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("read Secret %q: %w", names.WebhookCertificateSecret, err)
	}
	current := err == nil && isManaged(secret) && bytes.Equal(read(secret.Data).bundle(), bundle)
	if !current {
		s.changed.send()
	}
	return current, nil
}

// write creates or updates the Secret. If two replicas write at the same time, only one of them succeeds.
func (s *source) write(ctx context.Context, secret *corev1.Secret, data map[string][]byte, now time.Time) error {
	if s.writes.TokensAt(now) < 1 {
		return fmt.Errorf("the operator wrote the Secret at least %d times in a short time, because the nodes' "+
			"clocks differ or another client is writing the Secret; synchronize the clocks, or stop that client", writeBurst)
	}
	secret.Data = data
	var err error
	if secret.ResourceVersion == "" {
		_, err = s.secrets.Create(ctx, secret, metav1.CreateOptions{FieldManager: names.FieldManager})
	} else {
		_, err = s.secrets.Update(ctx, secret, metav1.UpdateOptions{FieldManager: names.FieldManager})
	}
	if err == nil {
		s.writes.AllowN(now, 1)
	}
	return err
}

func (s *source) newSecret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: names.WebhookCertificateSecret,
			Labels: map[string]string{names.LabelManagedBy: names.ManagedBy},
		},
		Type: corev1.SecretTypeTLS,
	}
}

// isManaged reports whether this package created the Secret.
func isManaged(secret *corev1.Secret) bool {
	return secret.Type == corev1.SecretTypeTLS && secret.Labels[names.LabelManagedBy] == names.ManagedBy
}

// publish starts to serve the content, and signals the users of the bundle if the bundle changed.
func (s *source) publish(c content, next time.Time) {
	before := s.current.Load()
	now := &served{serving: c.serving, bundle: c.bundle(), until: next}
	s.current.Store(now)
	certificateExpiry.WithLabelValues().Set(float64(c.serving.Leaf.NotAfter.Unix()))
	if before == nil || !bytes.Equal(before.bundle, now.bundle) {
		for _, user := range s.published {
			user.send()
		}
	}
}
