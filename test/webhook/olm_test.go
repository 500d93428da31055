package webhook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// olmService is the Service that OLM makes for the webhooks of the operator's Deployment.
const olmService = names.OperatorServiceAccount + "-service"

// TestInstalledByOLM begins with the definition and the stacks of the previous operator, and installs the objects that
// OLM makes from the bundle. The API server trusts the certificate that OLM mounts, so it calls both webhooks.
func TestInstalledByOLM(t *testing.T) {
	c := startCluster(t)
	stored := c.storeOlder(t)
	o := c.installByOLM(t)
	testutil.Within(t, patience, o.Ready)
	c.PublishAt(t, olmService, "443", o)
	testutil.Within(t, patience, func() error { return c.bothLists(t, len(stored)) })
	c.waitForStorage(t, v1alpha2.GroupVersion.Version)
	c.sameSpecs(t, stored)

	// OLM cannot install the policy, which rejects the name. The webhook does.
	for _, tc := range []struct{ name, distribution, want string }{
		{"x", "startr", `unknown distribution "startr"`},
		{"not.a.label", "starter", "metadata.name"},
	} {
		stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: tc.name}}
		stack.Spec.Distribution.Name = tc.distribution
		if err := c.Create(t.Context(), stack); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("stack %q: error %v does not contain %q", tc.name, err, tc.want)
		}
	}
	// The registration that OLM writes also sends updates of the metadata to the webhook.
	c.MustKubectl(t, "annotate", "--namespace="+stored[0].GetNamespace(), "llsd", stored[0].GetName(), "a=b")
	for _, example := range c.examples(t) {
		if err := c.Create(t.Context(), &example, client.DryRunAll); err != nil {
			t.Errorf("the example of %s: %v", example.GetAPIVersion(), err)
		}
	}
}

// installByOLM applies the objects that OLM makes, and starts the operator with the certificate that OLM mounts.
func (c *cluster) installByOLM(t *testing.T) *operator {
	t.Helper()
	manifest, err := testutil.Manifest(t.Context(), testutil.Root(), "default")
	testutil.Must(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: names.OperatorNamespace}}
	testutil.Must(t, c.Create(t.Context(), namespace))
	for _, object := range testutil.OLMObjects(t, manifest, names.OperatorNamespace) {
		err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("olm"),
			client.ForceOwnership)
		if err != nil {
			t.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: names.OperatorNamespace, Name: olmService + "-cert"}
	testutil.Must(t, c.Get(t.Context(), key, secret))
	folder := t.TempDir()
	for _, name := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
		testutil.Must(t, os.WriteFile(filepath.Join(folder, name), secret.Data[name], 0o600))
	}
	return c.StartOperator(t, "--webhook-cert-path="+folder)
}

// examples returns the stacks that a web console offers as a first one. OLM copies them from the bundle into the
// annotations of the operator's pods.
func (c *cluster) examples(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: names.OperatorNamespace, Name: names.OperatorServiceAccount}
	testutil.Must(t, c.Get(t.Context(), key, deployment))
	var found []unstructured.Unstructured
	text := deployment.Spec.Template.Annotations["alm-examples"]
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) != 2 {
		t.Fatalf("%d examples, want one for each version of the API: %v", len(found), err)
	}
	for i := range found {
		found[i].SetNamespace("default")
	}
	return found
}
