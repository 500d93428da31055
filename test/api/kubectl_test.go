package api

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// kubectl runs the shared control plane's own kubectl as a cluster administrator.
func kubectl(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	return kubectlOf(t, plane, stdin, args...)
}

func kubectlOf(t *testing.T, plane *testutil.ControlPlane, stdin string, args ...string) (string, error) {
	t.Helper()
	data, err := plane.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, data, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), testutil.Kubectl(), append([]string{"--kubeconfig", config}, args...)...)
	command.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err = command.Run()
	return out.String(), err
}

func TestSamplesApply(t *testing.T) {
	if out, err := kubectl(t, "", "apply", "--dry-run=server", "-f",
		filepath.Join(testutil.Root(), "config/samples")); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The API server accepts the complete example from the requirements without a warning. The test corrects the API group
// in the example.
func TestExampleOfTheRequirementsApplies(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(testutil.Root(), "internal/cli/testdata/spec-example-as-it-stands.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	example := strings.Replace(string(data), "llamastack.ai/", "llamastack.io/", 1)
	if out, err := kubectl(t, example, "apply", "--dry-run=server", "-f", "-"); err != nil ||
		strings.Contains(out, "arning") {
		t.Errorf("%v: %s", err, out)
	}
}

// By default, kubectl rejects fields that the API server would remove without a message.
func TestUnknownFields(t *testing.T) {
	for name, tc := range map[string]struct{ spec, want string }{
		"older spelling": {
			"{distribution: {name: starter}, workload: {autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 80}}}",
			`unknown field "spec.workload.autoscaling.targetCPUUtilizationPercentage"`,
		},
		"flat secret": {
			"{distribution: {name: starter}, storage: {kv: {type: redis, endpoint: 'redis:6379', password: {name: redis, key: password}}}}",
			`unknown field "spec.storage.kv.password.name"`,
		},
		"unknown API": {
			"{distribution: {name: starter}, providers: {inferense: {provider: vllm}}}",
			`unknown field "spec.providers.inferense"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := kubectl(t, "{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, metadata: {name: unknown-field}, spec: "+tc.spec+"}",
				"apply", "-f", "-")
			if err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("%v: %s\nwant %s", err, out, tc.want)
			}
		})
	}
}

func TestScale(t *testing.T) {
	c := newClient(t)
	object := newStack("scaled")
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	defer remove(t, c, object)
	status := `{"status":{"replicas":1,"selector":"app=llama-stack"}}`
	if err := c.Status().Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(status))); err != nil {
		t.Fatal(err)
	}
	scale := &autoscalingv1.Scale{}
	if err := c.SubResource("scale").Get(t.Context(), object, scale); err != nil {
		t.Fatal(err)
	}
	if scale.Spec.Replicas != 1 || scale.Status.Replicas != 1 || scale.Status.Selector != "app=llama-stack" {
		t.Errorf("scale is %+v", scale)
	}
	if out, err := kubectl(t, "", "scale", "llsd/scaled", "--replicas=3"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	if object.Spec.Workload == nil || *object.Spec.Workload.Replicas != 3 {
		t.Errorf("workload is %+v after scaling to 3", object.Spec.Workload)
	}
}

// The rules check the final form of a generated name.
func TestGeneratedName(t *testing.T) {
	c := newClient(t)
	for prefix, ok := range map[string]bool{"short-": true, strings.Repeat("a", 51): false} {
		object := newStack("")
		object.GenerateName = prefix
		if err := c.Create(t.Context(), object, client.DryRunAll); (err == nil) != ok {
			t.Errorf("generateName %q: %v", prefix, err)
		}
	}
}
