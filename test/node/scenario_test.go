//go:build node

package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// patience is the time limit on a busy machine. On an idle machine, a stand-in is ready within seconds.
	patience = 3 * time.Minute
	poll     = 200 * time.Millisecond
	// small contains the resource requests of a stand-in. They are lower than the default requests of a stack, which
	// are one core and one GiB.
	small = `{requests: {cpu: 10m, memory: 16Mi}}`
)

// scenario is a test in its own namespace.
type scenario struct {
	t         testing.TB
	namespace string
	// patience is the time limit for each wait.
	patience time.Duration
}

// newScenario creates a namespace in which every pod must meet the restricted Pod Security standard, and logs the
// duration of the scenario.
func newScenario(t testing.TB) *scenario {
	t.Helper()
	started := time.Now()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "node-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := cluster.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	s := &scenario{t, namespace.Name, patience}
	t.Cleanup(func() {
		if t.Failed() {
			s.explain()
		}
		if err := cluster.Delete(context.Background(), namespace); err != nil {
			t.Error(err)
		}
		t.Logf("scenario took %.1f s", time.Since(started).Seconds())
	})
	return s
}

// explain logs the state of the cluster to help you find the cause of a failure.
func (s *scenario) explain() {
	for _, arguments := range [][]string{
		{"get", "llsd,deployments,replicasets,pods,persistentvolumeclaims", "--output=wide"},
		{"get", "llsd", "--output=jsonpath={range .items[*].status.conditions[*]}{.type}={.status} {.reason}: {.message}{'\\n'}{end}"},
		{"get", "events", "--sort-by=.lastTimestamp"},
		{"logs", "--selector=app=llama-stack", "--tail=20", "--prefix"},
	} {
		said, err := kubectl(context.Background(), nil, append(arguments, "--namespace="+s.namespace)...)
		s.t.Logf("kubectl %s:\n%s%v", strings.Join(arguments, " "), said, err)
	}
	said, _ := kubectl(context.Background(), nil, "logs", "--namespace="+names.OperatorNamespace, "--selector=control-plane=controller-manager", "--tail=-1")
	for line := range strings.Lines(said) {
		if strings.Contains(line, s.namespace) && strings.Contains(line, "rror") {
			s.t.Log(line)
		}
	}
}

// kubectl runs kubectl in the scenario's namespace.
func (s *scenario) kubectl(arguments ...string) string {
	s.t.Helper()
	said, err := kubectl(s.t.Context(), nil, append([]string{"--namespace=" + s.namespace}, arguments...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return said
}

// apply applies objects as users do.
func (s *scenario) apply(manifest string) {
	s.t.Helper()
	if _, err := kubectl(s.t.Context(), []byte(manifest), "apply", "--namespace="+s.namespace,
		"--filename=-"); err != nil {
		s.t.Fatal(err)
	}
}

// stack returns a manifest of a stack with a spec in YAML. It indents the spec.
func stack(name, spec string) string {
	indented := strings.ReplaceAll(strings.Trim(spec, "\n"), "\n", "\n  ")
	return fmt.Sprintf("---\napiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: %s}\nspec:\n  %s\n", name, indented)
}

// secret returns a manifest of a Secret with one key.
func secret(name, key, value string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata: {name: %s}\nstringData: {%s: %q}\n", name, key, value)
}

// eventually polls until the function check returns nil, and fails the test after the scenario's time limit.
func (s *scenario) eventually(check func() error) {
	s.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(s.t.Context(), poll, s.patience, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		s.t.Fatalf("not within %v: %v", s.patience, last)
	}
}

func (s *scenario) get(name string, into client.Object) error {
	return cluster.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, into)
}

// until waits until the function check returns nil for a stack, and returns the stack.
func (s *scenario) until(
	name string, check func(found *v1alpha2.LlamaStackDistribution) error,
) (found *v1alpha2.LlamaStackDistribution) {
	s.t.Helper()
	s.eventually(func() error {
		found = &v1alpha2.LlamaStackDistribution{}
		if err := s.get(name, found); err != nil {
			return err
		}
		return check(found)
	})
	return found
}

// condition waits until the stack has a condition with this reason, and returns the whole stack.
func (s *scenario) condition(name, condition, reason string) *v1alpha2.LlamaStackDistribution {
	s.t.Helper()
	return s.until(name, func(found *v1alpha2.LlamaStackDistribution) error {
		for _, c := range found.Status.Conditions {
			if c.Type == condition && c.Reason == reason && c.ObservedGeneration == found.Generation {
				return nil
			}
		}
		return fmt.Errorf("there is no condition %s with reason %s in %s", condition, reason, conditions(found))
	})
}

// says waits until the message of one of the stack's conditions contains a text, and returns the condition as text.
func (s *scenario) says(name, text string) (said string) {
	s.t.Helper()
	s.until(name, func(found *v1alpha2.LlamaStackDistribution) error {
		for _, c := range found.Status.Conditions {
			if strings.Contains(c.Message, text) {
				said = fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
				return nil
			}
		}
		return fmt.Errorf("no condition contains %q: %s", text, conditions(found))
	})
	return said
}

// ready waits until the stack is ready with its current spec.
func (s *scenario) ready(name string) *v1alpha2.LlamaStackDistribution {
	s.t.Helper()
	return s.condition(name, v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
}

// serverVersion waits until the status contains this server version, and returns the whole stack. The operator reads
// the version when all pods are available.
func (s *scenario) serverVersion(name, want string) *v1alpha2.LlamaStackDistribution {
	s.t.Helper()
	return s.until(name, func(found *v1alpha2.LlamaStackDistribution) error {
		if got := found.Status.Version.LlamaStackServerVersion; got != want {
			return fmt.Errorf("the version of the server in the status is %q, want %q", got, want)
		}
		return nil
	})
}

func conditions(stack *v1alpha2.LlamaStackDistribution) string {
	var text strings.Builder
	for _, c := range stack.Status.Conditions {
		fmt.Fprintf(&text, "\n%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	return text.String()
}

func find(stack *v1alpha2.LlamaStackDistribution, condition string) metav1.Condition {
	for _, c := range stack.Status.Conditions {
		if c.Type == condition {
			return c
		}
	}
	return metav1.Condition{}
}

// pods returns the pods of a stack.
func (s *scenario) pods(stack string) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := cluster.List(s.t.Context(), &pods, client.InNamespace(s.namespace),
		client.MatchingLabels(names.Selector(stack)))
	return pods.Items, err
}

// untilPods waits until the function check returns nil for the pods of a stack, and returns the pods.
func (s *scenario) untilPods(stack string, check func(pods []corev1.Pod) error) (pods []corev1.Pod) {
	s.t.Helper()
	s.eventually(func() (err error) {
		if pods, err = s.pods(stack); err != nil {
			return err
		}
		return check(pods)
	})
	return pods
}

// onePod waits until the stack has exactly one pod, and returns it.
func (s *scenario) onePod(stack string) *corev1.Pod {
	s.t.Helper()
	return &s.untilPods(stack, func(pods []corev1.Pod) error {
		if len(pods) != 1 {
			return fmt.Errorf("%d pods, want one", len(pods))
		}
		return nil
	})[0]
}

// noPods waits until the stack has no pods.
func (s *scenario) noPods(stack string) {
	s.t.Helper()
	s.untilPods(stack, func(pods []corev1.Pod) error {
		if len(pods) > 0 {
			return fmt.Errorf("%d pods", len(pods))
		}
		return nil
	})
}

// allReady waits until a stack has exactly this number of pods and all of them are ready, and returns them. None of
// them may have a UID in the parameter `before`. It does not read the status of the stack.
func (s *scenario) allReady(stack string, count int, before ...string) []corev1.Pod {
	s.t.Helper()
	return s.untilPods(stack, func(pods []corev1.Pod) error {
		for i := range pods {
			if !isReady(&pods[i]) || pods[i].DeletionTimestamp != nil || slices.Contains(before, string(pods[i].UID)) {
				return fmt.Errorf("%s: pod %s is not ready, or is one of the earlier pods", stack, pods[i].Name)
			}
		}
		if len(pods) != count {
			return fmt.Errorf("%s has %d pods, want %d", stack, len(pods), count)
		}
		return nil
	})
}

// remains checks that a pod still exists and is ready.
func (s *scenario) remains(stack string, that *corev1.Pod) {
	s.t.Helper()
	pods, err := s.pods(stack)
	same := func(pod corev1.Pod) bool { return pod.UID == that.UID && isReady(&pod) }
	if err != nil || !slices.ContainsFunc(pods, same) {
		s.t.Errorf("the earlier pod no longer exists, or is not ready (%v)", err)
	}
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
