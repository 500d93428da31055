package controllertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// NewSecret returns a Secret with one key.
func NewSecret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{key: value}}
}

// NewTLSSecret returns a Secret with a certificate that is valid for 90 days.
func NewTLSSecret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, time.Now().Add(90*24*time.Hour))
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}
}

// NewConfigMap returns a ConfigMap with one key.
func NewConfigMap(name, key, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{key: value}}
}

// ObjectMeta returns the metadata of an object.
func ObjectMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// StarterImage returns the image of the distribution starter.
func StarterImage(t *testing.T) string {
	t.Helper()
	resolved, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved.Image
}

// InNamespace returns the message with the given namespace in place of the namespace "NS".
func InNamespace(message, namespace string) string {
	return strings.ReplaceAll(message, `namespace "NS"`, fmt.Sprintf("namespace %q", namespace))
}

// NewMismatchedTLSSecret returns a Secret with a certificate and the key of a different certificate.
func NewMismatchedTLSSecret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	broken := NewTLSSecret(t, name)
	broken.Data[corev1.TLSPrivateKeyKey] = NewTLSSecret(t, name).Data[corev1.TLSPrivateKeyKey]
	return broken
}
