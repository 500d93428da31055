package webhook

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// quickstart is the exact manifest of the v1alpha1 quickstart, except for the API group. The group in the quickstart,
// llama.meta.com, is from a proposal, and no operator supports it.
const quickstart = `
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: my-stack
spec:
  server:
    distribution:
      name: starter
    providers:
      inference:
        provider: vllm
        endpoint: "http://vllm:8000"
        apiKey:
          secretKeyRef:
            name: vllm-creds
            key: token
    resources:
      models:
        - "llama3.2-8b"
`

const (
	quickstartStack = "my-stack"
	inV1alpha1      = "llamastackdistributions.v1alpha1.llamastack.io"
	// token is the value in the Secret. The generated configuration must not contain it.
	token = "t0k3n-in-a-secret"
)

// The test follows the v1alpha1 quickstart, and does each step that is possible in a cluster without a node.
// docs/reference/v1alpha1-fields.md explains the differences between the quickstart and this operator.
func TestQuickstart(t *testing.T) {
	c := startCluster(t)
	c.Install(t)
	c.startReplicas(t)
	testutil.Within(t, patience, func() error { return c.trusted(t) })
	c.refusals(t)

	c.MustKubectl(t, "apply", "-f", writeFile(t, "stack.yaml", []byte(quickstart)))
	testutil.Within(t, patience, func() error {
		return c.hasConditions(t, "SecretsResolved=False SecretNotFound", "ConfigReady=Unknown Waiting")
	})
	if got := c.generatedConfigMap(t); got != "" {
		t.Errorf("generatedConfigMap is %q without the Secret, want an empty value", got)
	}
	c.MustKubectl(t, "create", "secret", "generic", "vllm-creds", "--from-literal=token="+token)
	c.MustKubectl(t, "wait", "--for=condition=ConfigReady", "--timeout=60s", inV1alpha1+"/"+quickstartStack)
	testutil.Within(t, patience, func() error {
		return c.hasConditions(t, "ValidationSucceeded=True SpecValid", "SecretsResolved=True AllSecretsFound", "ConfigReady=True ConfigGenerationSucceeded")
	})
	first := c.generatedConfigMap(t)
	c.generated(t, first)
	c.environment(t, first)

	// A change to the model results in a different configuration in a new ConfigMap.
	if err := c.edit(t, v1alpha1.GroupVersion.Version, quickstartStack, `{"spec":{"server":{"resources":{"models":["llama3.2-70b"]}}}}`); err != nil {
		t.Fatal(err)
	}
	testutil.Within(t, patience, func() error {
		if now := c.generatedConfigMap(t); now == first {
			return fmt.Errorf("generatedConfigMap is %q still", now)
		}
		return c.hasConditions(t, "ConfigReady=True ConfigGenerationSucceeded")
	})
}

// refusals applies manifests as a dry run, and checks which of them the API server rejects. The
// ValidatingAdmissionPolicy receives the stack in v1alpha2, and its messages contain the field names of v1alpha2. The
// webhook's messages contain the field names of the version in which the user wrote the stack.
func (c *cluster) refusals(t *testing.T) {
	t.Helper()
	one := quickstart[strings.Index(quickstart, "        provider: vllm"):strings.Index(quickstart, "    resources:")]
	two := func(id string) string {
		return strings.Replace(quickstart, one, "        - {"+id+"provider: vllm, endpoint: 'http://a:1'}\n        - {provider: vllm, id: second, endpoint: 'http://b:1'}\n", 1)
	}
	for name, tc := range map[string]struct{ manifest, want string }{
		"the manifest":                         {quickstart, ""},
		"the group in the original quickstart": {strings.Replace(quickstart, "llamastack.io/", "llama.meta.com/", 1), `no matches for kind "LlamaStackDistribution" in version "llama.meta.com/v1alpha1"`},
		"no provider":                          {strings.Replace(quickstart, "provider: vllm", "id: vllm", 1), "spec.providers.inference.provider: required"},
		"two providers, one without an ID":     {two(""), "spec.providers.inference[0].id: required"},
		"two providers with IDs":               {two("id: first, "), ""},
		"providers in addition to a userConfig": {
			strings.Replace(quickstart, "  server:\n", "  server:\n    userConfig: {configMapName: mine}\n", 1),
			"spec.server.providers: cannot be combined with server.userConfig",
		},
		"an unknown distribution": {strings.Replace(quickstart, "name: starter", "name: startr", 1), `spec.server.distribution.name: unknown distribution "startr"`},
		"a Deployment that the API server rejects": {
			`{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, metadata: {name: refused}, spec: {distribution: {name: starter},
workload: {overrides: {podTemplate: {spec: {securityContext: {windowsOptions: {runAsUserName: ""}}}}}}}}`,
			`spec.workload.overrides.podTemplate.spec.securityContext.windowsOptions.runAsUserName: the API server rejects Deployment "refused": `,
		},
	} {
		file := writeFile(t, "stack.yaml", []byte(tc.manifest))
		testutil.Within(t, patience, func() error { // at first, the API server might not yet call the webhook
			output, err := c.Kubectl(t, "apply", "--dry-run=server", "-f", file)
			if (err != nil) != (tc.want != "") || !strings.Contains(output, tc.want) {
				return fmt.Errorf("%s: %w: %s; want %q", name, err, output, tc.want)
			}
			t.Logf("%s: %s", name, output)
			return nil
		})
	}
}

// hasConditions returns an error unless the stack, read as v1alpha1, has these conditions for its current generation.
// Each condition is written as "Type=Status Reason".
func (c *cluster) hasConditions(t *testing.T, want ...string) error {
	t.Helper()
	stack := c.get(t, v1alpha1.GroupVersion.Version, quickstartStack)
	var status struct{ Conditions []metav1.Condition }
	text, err := yaml.Marshal(stack.Object["status"])
	if err == nil {
		err = yaml.Unmarshal(text, &status)
	}
	if err != nil {
		return err
	}
	var got []string
	for _, condition := range status.Conditions {
		if condition.ObservedGeneration == stack.GetGeneration() {
			got = append(got, fmt.Sprintf("%s=%s %s", condition.Type, condition.Status, condition.Reason))
		}
	}
	for _, condition := range want {
		if !slices.Contains(got, condition) {
			return fmt.Errorf("the conditions are %q, want %q", got, condition)
		}
	}
	return nil
}

func (c *cluster) generatedConfigMap(t *testing.T) string {
	t.Helper()
	name, _, err := unstructured.NestedString(c.get(t, v1alpha1.GroupVersion.Version, quickstartStack).Object, "status",
		"generatedConfigMap")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// generated checks the generated ConfigMap and the configuration in it.
func (c *cluster) generated(t *testing.T, name string) {
	t.Helper()
	if !regexp.MustCompile(`^my-stack-config-[0-9a-f]{8}$`).MatchString(name) {
		t.Errorf("generatedConfigMap %q", name)
	}
	var found corev1.ConfigMap
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, &found); err != nil {
		t.Fatal(err)
	}
	if owner := metav1.GetControllerOf(&found); owner == nil || owner.Kind != v1alpha2.Kind ||
		owner.Name != quickstartStack {
		t.Errorf("ConfigMap %q is controlled by %v", name, owner)
	}
	if found.Immutable == nil || !*found.Immutable {
		t.Errorf("ConfigMap %q is not immutable", name)
	}
	text := found.Data["config.yaml"]
	if strings.Contains(text, token) {
		t.Error("the configuration contains the token")
	}
	type provider struct {
		ID   string `json:"provider_id"`
		Type string `json:"provider_type"`
	}
	var configuration struct{ Providers map[string][]provider }
	if err := yaml.Unmarshal([]byte(text), &configuration); err != nil {
		t.Fatal(err)
	}
	// In the distribution, this provider replaces the provider that has the same ID. The other providers of the API
	// remain.
	if !slices.Contains(configuration.Providers["inference"], provider{ID: "vllm", Type: "remote::vllm"}) {
		t.Errorf("the inference providers are %+v", configuration.Providers["inference"])
	}
	for _, want := range []string{"http://vllm:8000/v1", "${env.LLSD_VLLM_API_KEY", "llama3.2-8b"} {
		if !strings.Contains(text, want) {
			t.Errorf("the configuration does not contain %q", want)
		}
	}
}

// environment checks that the pods have a volume with the ConfigMap and a variable that refers to the token, and that
// the stack has no Service.
func (c *cluster) environment(t *testing.T, configMap string) {
	t.Helper()
	var template corev1.PodTemplateSpec
	testutil.Within(t, patience, func() error {
		var deployment appsv1.Deployment
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: quickstartStack}, &deployment)
		template = deployment.Spec.Template
		return err
	})
	if !slices.ContainsFunc(template.Spec.Containers[0].Env, func(variable corev1.EnvVar) bool {
		from := variable.ValueFrom
		return variable.Name == "LLSD_VLLM_API_KEY" && from != nil && from.SecretKeyRef != nil &&
			from.SecretKeyRef.Name == "vllm-creds" && from.SecretKeyRef.Key == "token"
	}) {
		t.Error("the container has no variable LLSD_VLLM_API_KEY from the Secret")
	}
	if !slices.ContainsFunc(template.Spec.Volumes, func(volume corev1.Volume) bool {
		return volume.ConfigMap != nil && volume.ConfigMap.Name == configMap
	}) {
		t.Errorf("no volume refers to ConfigMap %q", configMap)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: quickstartStack + "-service"},
		&corev1.Service{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Error(errors.Join(errors.New("a stack of v1alpha1 without a port has a Service"), err))
	}
}
