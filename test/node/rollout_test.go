//go:build node

package node

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const serving = `
distribution: {name: starter}
providers: {inference: {id: %[1]s, provider: vllm, endpoint: "http://%[1]s:8000"}}
workload: {resources: ` + small + `, overrides: {env: [%[2]s]}}
`

// The rollout waits for a slow server. The old pod serves requests until the new pod is ready.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(stack("my", fmt.Sprintf(serving, "first", "")))
	s.ready("my")
	before := s.onePod("my")
	s.apply(stack("my", fmt.Sprintf(serving, "second", `{name: STANDIN_START, value: 45s}`)))
	s.untilPods("my", func(pods []corev1.Pod) error { // the new pod runs, but is not counted as available
		for i := range pods {
			if pods[i].UID != before.UID && pods[i].Status.Phase == corev1.PodRunning && !isReady(&pods[i]) {
				return nil
			}
		}
		return errors.New("there is no running new pod")
	})
	waiting := s.condition("my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutInProgress)
	if waiting.Status.AvailableReplicas != 1 {
		t.Errorf("%d replicas are available, want the old replica", waiting.Status.AvailableReplicas)
	}
	s.ready("my")
	if after := s.onePod("my"); after.UID == before.UID || after.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("pod %s was restarted %d times", after.UID, after.Status.ContainerStatuses[0].RestartCount)
	}
}
