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
	testutil.Must(t, err)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	testutil.Must(t, os.WriteFile(config, data, 0o600))
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
	testutil.Must(t, err)
	example := strings.Replace(string(data), "llamastack.ai/", "llamastack.io/", 1)
	if out, err := kubectl(t, example, "apply", "--dry-run=server", "-f", "-"); err != nil ||
		strings.Contains(out, "arning") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestScale(t *testing.T) {
	c := newClient(t)
	object := newStack("scaled")
	testutil.Must(t, c.Create(t.Context(), object))
	defer remove(t, c, object)
	status := `{"status":{"replicas":1,"selector":"app=llama-stack"}}`
	testutil.Must(t, c.Status().Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(status))))
	scale := &autoscalingv1.Scale{}
	testutil.Must(t, c.SubResource("scale").Get(t.Context(), object, scale))
	if scale.Spec.Replicas != 1 || scale.Status.Replicas != 1 || scale.Status.Selector != "app=llama-stack" {
		t.Errorf("scale is %+v", scale)
	}
	if out, err := kubectl(t, "", "scale", "llsd/scaled", "--replicas=3"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	testutil.Must(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	if object.Spec.Workload == nil || *object.Spec.Workload.Replicas != 3 {
		t.Errorf("workload is %+v after scaling to 3", object.Spec.Workload)
	}
}
