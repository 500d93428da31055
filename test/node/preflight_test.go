//go:build node

package node

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// tries returns the preflight pods of a stack.
func (s *scenario) tries(stack string) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := cluster.List(s.t.Context(), &pods, client.InNamespace(s.namespace),
		client.MatchingLabels(names.PreflightSelector(stack)))
	return pods.Items, err
}

// failsPreflight waits until the preflight pod of the stack has crashed, and returns this pod. It checks that the
// status contains the command that prints the log of the preflight pod, and that the running pod was not stopped.
func (s *scenario) failsPreflight(before *corev1.Pod) corev1.Pod {
	s.t.Helper()
	failed := s.condition("my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightFailed)
	pods, err := s.tries("my")
	if err != nil || len(pods) != 1 {
		s.t.Fatalf("there are %d preflight pods, want one (error %v)", len(pods), err)
	}
	message := find(failed, v1alpha2.ConditionDeploymentUpdated).Message
	want := `container "llama-stack" crashed with exit code 3; see kubectl logs ` + pods[0].Name + " -c llama-stack."
	if !strings.Contains(message, want) {
		s.t.Errorf("message %q, want %q in it", message, want)
	}
	if now := s.onePod("my"); now.UID != before.UID || !isReady(now) || now.Status.ContainerStatuses[0].RestartCount != 0 {
		s.t.Error("the running pod was stopped")
	}
	return pods[0]
}

// oneVolume is a stack with a volume that only one node at a time can mount. It does not set workload.preflight.
const oneVolume = `
distribution: {name: starter}
providers: {inference: {id: %[1]s, provider: vllm, endpoint: "http://%[1]s:8000"}}
workload: {resources: ` + small + `, storage: {size: 1Gi}, overrides: {env: [%[2]s]}}
`

// If only one node at a time can mount the volume, the old pod stops before the new pod starts. The operator first
// tests a change in a preflight pod, which receives no requests and has an empty volume in place of the
// PersistentVolumeClaim. If this pod crashes, the old pod continues to run with its volume, and the status contains the
// command that prints the log of the preflight pod. If the preflight pod starts, a new pod replaces the old pod and
// uses the old pod's volume, and the preflight pod is deleted.
func TestPreflight(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(stack("my", fmt.Sprintf(oneVolume, "first", "")))
	c, url := s.client(), s.service("my")
	s.ready("my")
	before := s.onePod("my")
	s.kubectl("exec", before.Name, "--", "/bin/mkdir", "/.llama/kept")

	s.apply(stack("my", fmt.Sprintf(oneVolume, "second", `{name: STANDIN_EXIT, value: "3"}`)))
	pod := s.failsPreflight(before)
	s.kubectl("logs", pod.Name, "-c", "llama-stack")
	if count := pod.Status.ContainerStatuses[0].RestartCount; count != 0 {
		t.Errorf("the container was restarted %d times", count)
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			t.Errorf("the preflight pod mounts the claim %s", volume.PersistentVolumeClaim.ClaimName)
		}
	}
	s.kubectl("exec", before.Name, "--", "/bin/sh", "-c", "cd /.llama/kept")
	c.provider(url, "first", map[string]any{"base_url": "http://first:8000/v1"})

	s.apply(stack("my", fmt.Sprintf(oneVolume, "third", `{name: STANDIN_START, value: 30s}`)))
	s.condition("my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightInProgress)
	c.provider(url, "first", map[string]any{"base_url": "http://first:8000/v1"})
	s.condition("my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	s.ready("my")
	c.provider(url, "third", map[string]any{"base_url": "http://third:8000/v1"})
	s.kubectl("exec", s.onePod("my").Name, "--", "/bin/sh", "-c", "cd /.llama/kept")
	s.eventually(func() error {
		left, err := s.tries("my")
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("the preflight pod %s still exists", left[0].Name)
		}
		return err
	})
}
