package controller_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{key: value}}
}

// tlsSecret returns a Secret with a valid certificate.
func tlsSecret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	return tlsSecretUntil(t, name, time.Now().Add(90*24*time.Hour))
}

func tlsSecretUntil(t *testing.T, name string, end time.Time) *corev1.Secret {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, end)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}
}

func configMap(name, key, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{key: value}}
}

// baseHash returns the hash of the catalogue's base for starter.
func baseHash(t *testing.T) string {
	t.Helper()
	resolved, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(resolved.Base)
	return hex.EncodeToString(sum[:])
}

func objectMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

var emptyTime metav1.Time

// starterImage returns the catalogue's image for starter.
func starterImage(t *testing.T) string {
	t.Helper()
	resolved, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved.Image
}
