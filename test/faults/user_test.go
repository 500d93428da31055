package faults_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// users lists user actions that occur between two writes of the operator or while the operator is idle.
var users = []fault{
	{name: "kubectl apply of the stack, in the middle of a change", strikes: []strike{between(applyStack)}, spec: changed},
	{name: "kubectl apply of the Deployment, in the middle of a change", strikes: []strike{between(applyDeployment)}, spec: changed},
	{name: "kubectl edit of the Deployment, in the middle of a change", strikes: []strike{between(editDeployment)}, spec: changed},
	{name: "kubectl edit of the Deployment", strikes: []strike{at(editDeployment)}},
	{
		name: "kubectl scale of the Deployment", before: []string{fixed}, strikes: []strike{at(scaleDeployment)}, rolls: true,
		after: hasTwo,
	},
	{name: "kubectl rollout undo, and the next change", before: []string{full, changed}, strikes: []strike{undo}, rolls: true, after: likeNew(third)},
}

// fixed is a spec with a fixed number of replicas and without an autoscaler.
const fixed = `{distribution: {name: starter}, workload: {replicas: 2}}`

// third is a third spec, which differs from the spec `changed` in one URL.
var third = strings.Replace(changed, "http://other:8000", "http://third:8000", 1)

// between returns a strike that calls the function `act` before the operator makes the second write of a change.
func between(act func(*testing.T, *stage)) strike {
	return func(t *testing.T, th *theatre, s *stage) func() {
		t.Helper()
		held, release := make(chan struct{}), make(chan struct{})
		once, let := sync.OnceFunc(func() { close(held) }), sync.OnceFunc(func() { close(release) })
		t.Cleanup(let)
		th.operator.set(func(c call) verdict {
			if c.write < 2 {
				return verdict{}
			}
			once()
			return verdict{hold: release}
		})
		return func() {
			eventually(t, "the operator's write", func() error {
				if !closed(held) {
					return fmt.Errorf("%d writes", th.operator.written())
				}
				return nil
			})
			act(t, s)
			th.operator.calm()
			let()
		}
	}
}

// at returns a strike that calls the function `act` while the operator is idle.
func at(act func(*testing.T, *stage)) strike {
	return func(t *testing.T, _ *theatre, s *stage) func() {
		t.Helper()
		return func() { act(t, s) }
	}
}

// applyStack applies the same spec again, as a deployment pipeline does.
func applyStack(t *testing.T, s *stage) {
	t.Helper()
	s.kubectlApply(t, "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution", stackName, changed)
}

// applyDeployment applies a field that the operator owns in the Deployment.
func applyDeployment(t *testing.T, s *stage) {
	t.Helper()
	s.kubectlApply(t, "apiVersion: apps/v1\nkind: Deployment", stackName, "progressDeadlineSeconds: 7", "--server-side",
		"--force-conflicts")
}

func (s *stage) kubectlApply(t *testing.T, kind, name, spec string, flags ...string) {
	t.Helper()
	manifest := map[string]any{}
	testutil.Must(t, yaml.Unmarshal([]byte(kind), &manifest))
	fields := map[string]any{}
	testutil.Must(t, yaml.Unmarshal([]byte(spec), &fields))
	manifest["metadata"], manifest["spec"] = map[string]any{"name": name}, fields
	content, err := yaml.Marshal(manifest)
	testutil.Must(t, err)
	s.kubectl(t, string(content), append([]string{"apply", "--filename=-"}, flags...)...)
}

func editDeployment(t *testing.T, s *stage) {
	t.Helper()
	s.kubectl(t, "", "edit", "deployment/"+stackName)
}

func scaleDeployment(t *testing.T, s *stage) {
	t.Helper()
	s.kubectl(t, "", "scale", "deployment/"+stackName, "--replicas=4")
}

func hasTwo(t *testing.T, s *stage) error {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if s.get(t, stackName, deployment); *deployment.Spec.Replicas != 2 {
		return fmt.Errorf("%d replicas, want two", *deployment.Spec.Replicas)
	}
	if pods := s.pods(t); len(pods) != 2 {
		return fmt.Errorf("pods %v, want two", pods)
	}
	return s.ready(t)
}

// undo rolls the Deployment back. The operator keeps the rollback until the spec changes.
func undo(t *testing.T, _ *theatre, s *stage) func() {
	t.Helper()
	s.kubectl(t, "", "rollout", "undo", "deployment/"+stackName)
	eventually(t, "the stack reports that it was rolled back", func() error {
		if condition := s.condition(t, v1alpha2.ConditionDegraded); condition == nil ||
			condition.Reason != v1alpha2.ReasonRolledBack {
			return fmt.Errorf("Degraded is %+v", condition)
		}
		return nil
	})
	return func() { s.apply(t, third) }
}

// likeNew returns a check that the Deployment is the same as for a new stack with this spec.
func likeNew(spec string) func(*testing.T, *stage) error {
	var want any
	return func(t *testing.T, s *stage) error {
		t.Helper()
		const deployment = "Deployment " + stackName
		if want == nil {
			model := s.newStage(t)
			model.apply(t, spec)
			want = model.settle(t)[deployment]
			model.remove(t)
		}
		return errors.Join(s.ready(t), differ("another Deployment", cmp.Diff(want, s.outcome(t)[deployment])))
	}
}

// kubectl runs the real kubectl. The editor in its environment sets the deadline of a Deployment.
func (s *stage) kubectl(t *testing.T, input string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), testutil.Kubectl(),
		append([]string{"--kubeconfig=" + s.Kubeconfig, "--namespace=" + s.namespace}, arguments...)...)
	command.Stdin = strings.NewReader(input)
	command.Env = append(os.Environ(), "KUBE_EDITOR=sed -i -e 's/progressDeadlineSeconds: .*/progressDeadlineSeconds: 7/'")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
}

// condition returns a condition of the stack, or nil if the stack does not have a condition of that type.
func (s *stage) condition(t *testing.T, name string) *metav1.Condition {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	s.get(t, stackName, stack)
	return meta.FindStatusCondition(stack.Status.Conditions, name)
}
