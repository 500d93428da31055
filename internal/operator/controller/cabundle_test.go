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
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// updateConfigMap sets one key of a ConfigMap.
func updateConfigMap(t *testing.T, env *controllertest.Environment, name, key, value string) {
	t.Helper()
	configMap := &corev1.ConfigMap{}
	env.Get(t, name, configMap)
	patch := client.MergeFrom(configMap.DeepCopy())
	configMap.Data[key] = value
	env.Patch(t, configMap, patch)
}

// waitForBundle waits until the bundle contains exactly the given certificates, and returns the value of the annotation
// with its digest.
func waitForBundle(t *testing.T, env *controllertest.Environment, certificates ...string) string {
	t.Helper()
	wanted, _ := cabundle.Read([]byte(strings.Join(certificates, "")))
	deployment := &appsv1.Deployment{}
	controllertest.WaitUntil(t, func() error {
		bundle := &corev1.ConfigMap{}
		if err := env.Client.Get(t.Context(), env.Key("my-ca-bundle"), bundle); err != nil {
			return err
		}
		if !bytes.Equal([]byte(bundle.Data["ca-bundle.crt"]), cabundle.PEM(wanted)) {
			return fmt.Errorf("the bundle does not contain exactly %d certificates", len(wanted))
		}
		if err := env.Client.Get(t.Context(), env.Key("my"), deployment); err != nil {
			return err
		}
		if got := deployment.Spec.Template.Annotations[names.AnnotationCABundleHash]; got != cabundle.Digest(wanted) {
			return fmt.Errorf("the annotation of the pods has another digest, %q", got)
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
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, version)
	env.Create(t, controllertest.NewConfigMap("company-ca", "ca-bundle.crt", string(one)+string(two)), env.NewStack(t, "my", spec))
	waitForBundle(t, env, string(one), string(two))
	seen := env.WaitUntilIdle(t, version)

	updateConfigMap(t, env, "company-ca", "ca-bundle.crt", "# in reverse order\n"+string(two)+string(one)+string(two))
	env.WaitForCall(t, version, len(seen))
	if got := controllertest.ListWrites(env.WaitUntilIdle(t, version)[len(seen):]); len(got) > 0 {
		t.Errorf("writes for the same certificates: %v", got)
	}

	updateConfigMap(t, env, "company-ca", "ca-bundle.crt", string(one)+string(key))
	condition := env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded,
		v1alpha2.ReasonConfigMapValueUnusable)
	want := fmt.Sprintf("Key \"ca-bundle.crt\" of ConfigMap \"company-ca\" in namespace %q cannot be used: line %d: is a private key, "+
		"which anyone who can read the ConfigMap can use: remove it, and issue a new key. "+
		"Referenced by: spec.networking.tls.caBundle.configMapName", env.Namespace, bytes.Count(one, []byte("\n"))+1)
	if condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	waitForBundle(t, env, string(one), string(two)) // the running pods do not change

	updateConfigMap(t, env, "company-ca", "ca-bundle.crt", string(one))
	waitForBundle(t, env, string(one))
	env.UpdateSpec(t, "my", `{distribution: {name: starter}}`)
	env.WaitForNoChild(t, "my-ca-bundle", &corev1.ConfigMap{})
}

// TestTrustedCABundle checks that the certificates in a bundle that the platform creates in a namespace are trusted
// without a setting in the spec, and that invalid parts of the bundle are ignored.
func TestTrustedCABundle(t *testing.T) {
	one, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	two, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "trusted-ca")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	given := controllertest.NewConfigMap(names.TrustedCABundle, "ca-bundle.crt", string(one))
	given.Data["odh-ca-bundle.crt"], given.Data["mixed"] = "", "-----BEGIN NOTHING\n"+string(two)
	env.Create(t, given)
	waitForBundle(t, env, string(one), string(two))
	updateConfigMap(t, env, names.TrustedCABundle, "mixed", "gone")
	waitForBundle(t, env, string(one))
	env.Delete(t, given)
	env.WaitForNoChild(t, "my-ca-bundle", &corev1.ConfigMap{})
}
