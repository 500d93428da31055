package controller_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// rewrite replaces the content of a ConfigMap.
func (b *bench) rewrite(t *testing.T, name, key, value string) {
	t.Helper()
	configMap := &corev1.ConfigMap{}
	b.get(t, name, configMap)
	patch := client.MergeFrom(configMap.DeepCopy())
	configMap.Data[key] = value
	if err := b.Patch(t.Context(), configMap, patch); err != nil {
		t.Fatal(err)
	}
}

// trusts waits until the bundle has the certificates in addition to the roots, and returns the annotation that rolls
// the pods.
func (b *bench) trusts(t *testing.T, certificates ...string) string {
	t.Helper()
	wanted, _ := cabundle.Read([]byte(strings.Join(certificates, "")))
	deployment := &appsv1.Deployment{}
	eventually(t, func() error {
		bundle := &corev1.ConfigMap{}
		if err := b.Get(t.Context(), b.key("my-ca-bundle"), bundle); err != nil {
			return err
		}
		if !bytes.Equal([]byte(bundle.Data["ca-bundle.crt"]), cabundle.PEM(wanted)) {
			return fmt.Errorf("the bundle is another one than that of %d certificates", len(wanted))
		}
		if err := b.Get(t.Context(), b.key("my"), deployment); err != nil {
			return err
		}
		if got := deployment.Spec.Template.Annotations[names.AnnotationCABundleHash]; got != cabundle.Digest(wanted) {
			return fmt.Errorf("the pods are of another bundle, %q", got)
		}
		return nil
	})
	return deployment.Spec.Template.Annotations[names.AnnotationCABundleHash]
}

func TestCABundle(t *testing.T) {
	const version = "ca-bundle"
	const spec = `{distribution: {name: starter}, networking: {tls: {caBundle: {configMapName: company-ca}}}}`
	one, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	two, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	b := newBench(t)
	b.direct(t, version)
	b.create(t, configMap("company-ca", "ca-bundle.crt", string(one)+string(two)), b.stack(t, "my", spec))
	b.trusts(t, string(one), string(two))
	seen := b.settled(t, version)

	b.rewrite(t, "company-ca", "ca-bundle.crt", "# the other way round\n"+string(two)+string(one)+string(two))
	eventually(t, func() error {
		if len(b.calls(t, version)) == len(seen) {
			return fmt.Errorf("no reconcile yet")
		}
		return nil
	})
	if got := writes(b.settled(t, version)[len(seen):]); len(got) > 0 {
		t.Errorf("writes for the same certificates: %v", got)
	}

	b.rewrite(t, "company-ca", "ca-bundle.crt", string(one)+string(key))
	condition := b.condition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonConfigMapValueUnusable)
	want := fmt.Sprintf("Key \"ca-bundle.crt\" of ConfigMap \"company-ca\" in namespace %q cannot be used: line %d: is a private key, "+
		"which everyone who can read the ConfigMap now has: remove it, and issue a new key. "+
		"Referenced by: spec.networking.tls.caBundle.configMapName", b.namespace, bytes.Count(one, []byte("\n"))+1)
	if condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	b.trusts(t, string(one), string(two)) // running pods are left alone

	b.rewrite(t, "company-ca", "ca-bundle.crt", string(one))
	b.trusts(t, string(one))
	b.respec(t, "my", `{distribution: {name: starter}}`)
	b.goes(t, "my-ca-bundle", &corev1.ConfigMap{})
}

// TestTrustedCABundle checks that a bundle that the platform puts into a namespace is trusted without being requested,
// as far as it is valid.
func TestTrustedCABundle(t *testing.T) {
	one, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	two, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	b := newBench(t)
	b.direct(t, "trusted-ca")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	given := configMap(names.TrustedCABundle, "ca-bundle.crt", string(one))
	given.Data["odh-ca-bundle.crt"], given.Data["mixed"] = "", "-----BEGIN NOTHING\n"+string(two)
	b.create(t, given)
	b.trusts(t, string(one), string(two))
	b.rewrite(t, names.TrustedCABundle, "mixed", "gone")
	b.trusts(t, string(one))
	if err := b.Delete(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	b.goes(t, "my-ca-bundle", &corev1.ConfigMap{})
}
