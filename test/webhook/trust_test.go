package webhook

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/certificate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// running is the name of a stack whose spec does not change. edited is the name of a stack whose spec changes
// continuously.
const running, edited = "running", "edited"

const plainStack = `apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: %s, namespace: default}
spec:
  replicas: 1
  server:
    distribution: {name: starter}
    containerSpec: {port: 8321}
`

// leaveToCertManager is an annotation for cert-manager. If the definition has it, the operator does not manage the
// bundle.
const leaveToCertManager = "cert-manager.io/inject-ca-from"

// The test changes the bundle that the API server trusts, in the same way as users and certificate rotation do. Each
// part continues with the result of the previous part.
func TestTrust(t *testing.T) {
	c := startCluster(t)
	c.Install(t)
	first := newAuthority(t, ours, 3*time.Hour)
	c.keep(t, first)
	replicas := c.startReplicas(t)
	testutil.Within(t, patience, func() error { return c.trusted(t) })
	file := writeFile(t, "stacks.yaml", fmt.Appendf(nil, plainStack+"---\n"+plainStack, running, edited))
	testutil.Within(t, patience, func() error {
		output, err := c.Kubectl(t, "apply", "-f", file)
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
	before := c.deployment(t)
	c.rotate(t, first, replicas)
	c.anotherAuthority(t)
	c.editedConfiguration(t)
	if diff := cmp.Diff(before, c.deployment(t)); diff != "" {
		t.Errorf("the Deployment of the running stack has changed (-before +after):\n%s", diff)
	}
}

// anotherAuthority makes the definition trust a different authority. The API server's error message contains the name
// of the Service. The operator reports the problem in a condition and in an event of the definition, and corrects the
// bundle after the annotation for cert-manager is removed.
func (c *cluster) anotherAuthority(t *testing.T) {
	t.Helper()
	strange := encodeCertificate(newAuthority(t, "corporate CA", 0).certificate)
	change(t, c, c.definition, func(definition *apiextensionsv1.CustomResourceDefinition) {
		definition.Annotations = map[string]string{leaveToCertManager: "a/b"}
		definition.Spec.Conversion.Webhook.ClientConfig.CABundle = strange
	})
	testutil.Within(t, patience, func() error {
		_, err := c.list(t, v1alpha1.GroupVersion.Version)
		if err == nil || !strings.Contains(err.Error(), "https://"+serverName) || !strings.Contains(err.Error(), "certificate signed by unknown authority") {
			return fmt.Errorf("a list in v1alpha1: got error %w, want an error with the name of Service %q", err, names.WebhookService)
		}
		return nil
	})
	if _, err := c.list(t, v1alpha2.GroupVersion.Version); err != nil {
		t.Errorf("list the stacks in the stored version v1alpha2: %v", err)
	}
	testutil.Within(t, patience, func() error {
		output, err := c.Kubectl(t, "describe", "crd", names.CustomResourceDefinition)
		for _, want := range []string{
			string(certificate.Untrusted), certificate.ReasonNotInjected,
			v1alpha2.EventWebhookCertificateFailed, leaveToCertManager,
		} {
			if err == nil && !strings.Contains(output, want) {
				err = fmt.Errorf("the output of kubectl describe crd does not contain %q", want)
			}
		}
		return err
	})
	change(t, c, c.definition, func(definition *apiextensionsv1.CustomResourceDefinition) { definition.Annotations = nil })
	testutil.Within(t, patience, func() error {
		if _, err := c.list(t, v1alpha1.GroupVersion.Version); err != nil {
			return err
		}
		for _, condition := range c.definition(t).Status.Conditions {
			if condition.Type == certificate.Untrusted {
				return errors.New("the definition still has the condition")
			}
		}
		return c.trusted(t)
	})
}

// deployment returns the Deployment of the stack whose spec does not change. The operator must not change it in any
// part of the test.
func (c *cluster) deployment(t *testing.T) appsv1.Deployment {
	t.Helper()
	var found appsv1.Deployment
	testutil.Within(t, patience, func() error {
		return c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: running}, &found)
	})
	found.ManagedFields, found.ResourceVersion = nil, ""
	return found
}

// editedConfiguration changes the configuration of the validating webhook as docs/reference/webhooks.md describes.
func (c *cluster) editedConfiguration(t *testing.T) {
	t.Helper()
	checked, unchecked := func() error { return c.isChecked(t, true) }, func() error { return c.isChecked(t, false) }
	testutil.Within(t, patience, checked)
	change(t, c, c.configuration, func(configuration *admissionv1.ValidatingWebhookConfiguration) {
		configuration.Webhooks[0].ClientConfig.CABundle = nil
	})
	testutil.Within(t, patience, func() error { return c.trusted(t) })
	testutil.Within(t, patience, checked)

	// The operator reverts only the change to the bundle.
	path := "/elsewhere"
	change(t, c, c.configuration, func(configuration *admissionv1.ValidatingWebhookConfiguration) {
		config := &configuration.Webhooks[0].ClientConfig
		config.CABundle, config.Service.Path = nil, &path
	})
	testutil.Within(t, patience, func() error { return c.trusted(t) })
	testutil.Within(t, patience, unchecked)
	if got := *c.configuration(t).Webhooks[0].ClientConfig.Service.Path; got != path {
		t.Errorf("the path is %q, want %q", got, path)
	}

	change(t, c, c.configuration,
		func(configuration *admissionv1.ValidatingWebhookConfiguration) { configuration.Webhooks = nil })
	testutil.Within(t, patience, unchecked)
	if got := c.configuration(t).Webhooks; len(got) > 0 {
		t.Errorf("the operator restored %d webhooks", len(got))
	}

	testutil.Must(t, c.Delete(t.Context(), c.configuration(t)))
	c.Install(t)
	testutil.Within(t, patience, func() error { return c.trusted(t) })
	testutil.Within(t, patience, checked)
}

// isChecked tries a stack with an unknown distribution. If `want` is true, it returns an error unless the API server
// rejects the stack. If `want` is false, it returns an error unless the API server accepts the stack.
func (c *cluster) isChecked(t *testing.T, want bool) error {
	t.Helper()
	err := c.edit(t, v1alpha1.GroupVersion.Version, running, `{"spec":{"server":{"distribution":{"name":"startr"}}}}`, client.DryRunAll)
	if refused := err != nil && strings.Contains(err.Error(), "spec.server.distribution.name"); refused != want || !want &&
		err != nil {
		return fmt.Errorf("error for an unknown distribution: %w; want an error: %v", err, want)
	}
	return nil
}
