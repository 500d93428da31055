package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/process"
)

const edits = "../../internal/cli/testdata/diff"

// TestDiffAgainstTheOperator compares the output of the command diff with the behavior of the operator. diff must not
// report a difference for the running stack. It must report a restart if and only if the operator then changes the pod
// template's annotation for the inputs.
func TestDiffAgainstTheOperator(t *testing.T) {
	c := live{process.StartCluster(t, testutil.Options{})}
	c.upgrade(t)
	for _, name := range golden.Cases(t, edits) {
		if name == "new" { // in this case, after.yaml contains a new stack
			continue
		}
		t.Run(name, func(t *testing.T) {
			files := golden.Unpack(t, filepath.Join(edits, name))
			before, after := filepath.Join(files, "before.yaml"), filepath.Join(files, "after.yaml")
			namespace := "diff-" + name
			c.MustKubectl(t, "create", "namespace", namespace)
			c.MustKubectl(t, "create", "secret", "generic", "creds", "-n", namespace, "--from-literal=token=abc")
			c.MustKubectl(t, "apply", "-n", namespace, "-f", before)
			was := c.deployed(t, namespace)

			if code, out := c.diff(t, namespace, before); code != 0 {
				t.Errorf("diff of the running stack: exit code %d\n%s", code, out)
			}
			code, out := c.diff(t, namespace, after, "-o", "json")
			if code > 1 || (code == 0) != (name == "nothing") {
				t.Errorf("the edit: exit code %d\n%s", code, out)
			}
			predicted := prediction(t, out)

			c.MustKubectl(t, "apply", "-n", namespace, "-f", after)
			is := c.deployed(t, namespace)
			then, now := was.Spec.Template.Annotations, is.Spec.Template.Annotations
			restarts := then[names.AnnotationInputs] != now[names.AnnotationInputs]
			if restarts != (predicted == "restart") {
				t.Errorf("diff predicts %q, but the operator changes the pod template: %v", predicted, restarts)
			}
		})
	}
}

// diff runs the command against the cluster.
func (c live) diff(t *testing.T, namespace, file string, arguments ...string) (code int, output string) {
	t.Helper()
	var out, messages bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}
	code = cli.Run(streams, process.Version, append([]string{
		"diff", "-f", file, "-n", namespace, "--kubeconfig",
		c.Kubeconfig,
	}, arguments...))
	if code > 1 {
		return code, out.String() + messages.String()
	}
	return code, out.String()
}

func prediction(t *testing.T, output string) string {
	t.Helper()
	var changes []struct{ Pods struct{ Restart string } }
	if err := json.Unmarshal([]byte(output), &changes); err != nil || len(changes) != 1 {
		t.Fatalf("%v\n%s", err, output)
	}
	return changes[0].Pods.Restart
}

// deployed waits until the operator has applied or rejected the newest spec, and returns the Deployment.
func (c live) deployed(t *testing.T, namespace string) *appsv1.Deployment {
	t.Helper()
	key := client.ObjectKey{Namespace: namespace, Name: "demo"}
	deployment := &appsv1.Deployment{}
	testutil.Within(t, process.Patience, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		if err := c.Get(t.Context(), key, stack); err != nil {
			return err
		}
		if stack.Status.ObservedGeneration != stack.Generation || len(stack.Status.Conditions) == 0 {
			return errors.New("the operator has not observed the newest spec")
		}
		i := slices.IndexFunc(stack.Status.Conditions, func(condition metav1.Condition) bool {
			return condition.Type == v1alpha2.ConditionDeploymentUpdated &&
				condition.ObservedGeneration == stack.Generation
		})
		if i < 0 {
			return fmt.Errorf("the conditions are %+v", stack.Status.Conditions)
		}
		return c.Get(t.Context(), key, deployment)
	})
	return deployment
}
