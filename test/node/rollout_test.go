//go:build node

package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const serving = `
distribution: {name: starter}
providers: {inference: {id: %[1]s, provider: vllm, endpoint: "http://%[1]s:8000"}}
workload: {resources: ` + small + `, overrides: {env: [%[2]s]}}
`

// uids returns the UIDs of the pods that are ready and not being deleted.
func (s *scenario) uids(stack string) ([]types.UID, error) {
	pods, err := s.pods(stack)
	var found []types.UID
	for i := range pods {
		if isReady(&pods[i]) && pods[i].DeletionTimestamp == nil {
			found = append(found, pods[i].UID)
		}
	}
	slices.Sort(found)
	return found, err
}

// If the pods for a change crash, the old pod continues to serve requests. The next valid change replaces the old pod.
func TestBrokenChange(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(stack("my", fmt.Sprintf(serving, "first", "")))
	c := s.client()
	s.ready("my")
	before := s.onePod("my")

	s.apply(stack("my", fmt.Sprintf(serving, "second", `{name: STANDIN_EXIT, value: "1"}`)))
	failed := s.condition("my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed)
	if failed.Status.AvailableReplicas != 1 || failed.Status.Phase != v1alpha2.PhaseFailed {
		t.Errorf("%d replicas are available in phase %s, want the old replica and the phase Failed", failed.Status.AvailableReplicas, failed.Status.Phase)
	}
	now, err := s.uids("my")
	if err != nil || !slices.Equal(now, []types.UID{before.UID}) {
		t.Errorf("pods %v serve (%v), want %v", now, err, before.UID)
	}
	c.provider(s.service("my"), "first", map[string]any{"base_url": "http://first:8000/v1"})

	s.apply(stack("my", fmt.Sprintf(serving, "third", "")))
	s.ready("my")
	c.provider(s.service("my"), "third", map[string]any{"base_url": "http://third:8000/v1"})
	if after := s.onePod("my"); after.UID == before.UID {
		t.Error("the old pod still exists")
	}
}

// The rollout waits for a slow server. The old pod serves requests until the new pod is ready.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(stack("my", fmt.Sprintf(serving, "first", "")))
	s.ready("my")
	before := s.onePod("my")
	s.apply(stack("my", fmt.Sprintf(serving, "second", `{name: STANDIN_START, value: 15s}`)))
	s.eventually(func() error { // the new pod runs, but is not counted as available
		pods, err := s.pods("my")
		if err != nil {
			return err
		}
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

// If a quota does not allow an additional pod for a change, the old pod continues to serve requests. The status
// contains the API server's message. When the quota allows an additional pod, the rollout continues.
func TestQuotaOfARunningStack(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const quota = "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: full}\nspec: {hard: {pods: %q}}\n"
	s.apply(stack("my", fmt.Sprintf(serving, "first", "")))
	s.ready("my")
	before := s.onePod("my")
	s.apply(fmt.Sprintf(quota, "1"))
	s.eventually(func() error { // the quota does not count the pod immediately
		full := &corev1.ResourceQuota{}
		err := s.get("full", full)
		if used := full.Status.Used.Pods(); err == nil && used.Value() != 1 {
			err = fmt.Errorf("the quota counts %v pods", used)
		}
		return err
	})

	s.apply(stack("my", fmt.Sprintf(serving, "second", "")))
	failed := s.condition("my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed)
	if message := find(failed, v1alpha2.ConditionAvailable).Message; !strings.Contains(message, "exceeded quota: full, requested: pods=1, used: pods=1, limited: pods=1") {
		t.Errorf("message %q", message)
	}
	if now, err := s.uids("my"); err != nil || !slices.Equal(now, []types.UID{before.UID}) {
		t.Errorf("pods %v serve (%v), want %v", now, err, before.UID)
	}
	s.apply(fmt.Sprintf(quota, "3"))
	s.ready("my")
	s.eventually(func() error {
		if after := s.onePod("my"); after.UID == before.UID {
			return errors.New("the old pod still exists")
		}
		return nil
	})
}

// noPods waits until the stack has no pods.
func (s *scenario) noPods(stack string) {
	s.t.Helper()
	s.eventually(func() error {
		pods, err := s.pods(stack)
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d pods", len(pods))
		}
		return err
	})
}

// A stack that is scaled to zero has no pods and does not report a failure. When it is scaled up, the requested number
// of pods serve requests.
func TestScaling(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(stack("my", fmt.Sprintf(serving, "first", "")))
	s.ready("my")
	s.kubectl("scale", "llsd/my", "--replicas=0")
	if zero := s.condition("my", v1alpha2.ConditionReady,
		v1alpha2.ReasonScaledToZero); zero.Status.Phase != v1alpha2.PhaseReady {
		t.Errorf("phase %s", zero.Status.Phase)
	}
	s.noPods("my")
	s.kubectl("scale", "llsd/my", "--replicas=2")
	s.ready("my")
	if found, err := s.uids("my"); err != nil || len(found) != 2 {
		t.Errorf("pods %v serve (%v), want two", found, err)
	}
}

// A killed pod is replaced. The status reports first that a pod is missing, and then that the new pod is available. The
// new pod starts slowly, so that the test can observe the first state.
func TestPodIsKilled(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(stack("my", fmt.Sprintf(serving, "first", "{name: STANDIN_START, value: 5s}")))
	s.ready("my")
	before := s.onePod("my")
	s.kubectl("delete", "pod", before.Name, "--grace-period=0", "--force")
	s.condition("my", v1alpha2.ConditionAvailable, v1alpha2.ReasonReplicasUnavailable)
	s.ready("my")
	if after := s.onePod("my"); after.UID == before.UID {
		t.Error("the pod was not replaced")
	}
}

const everyChild = `
distribution: {name: starter}
providers: {inference: {provider: vllm, endpoint: "http://vllm:8000",
  apiKey: {secretKeyRef: {name: creds, key: token}}}}
networking: {expose: {hostname: deletion.%s.example.com}, allowedFrom: {namespaces: [web]}}
workload: {resources: ` + small + `, replicas: 2, podDisruptionBudget: {minAvailable: 1}, storage: {size: 1Gi, accessModes: [ReadWriteMany]}}
`

// All objects of a stack are deleted together with the stack, including pods and the volume. The user's objects are not
// deleted.
func TestDeletion(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(secret("creds", "token", "sk-abc") + stack("my", fmt.Sprintf(everyChild, s.namespace)))
	s.condition("my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	s.kubectl("delete", "llsd/my", "--timeout=120s")
	s.eventually(func() error {
		left, err := kubectl(t.Context(), nil, "get", "--namespace="+s.namespace, "--selector=app.kubernetes.io/instance=my", "--output=name",
			"deployments,replicasets,pods,services,endpointslices,serviceaccounts,configmaps,secrets,persistentvolumeclaims,ingresses,networkpolicies,poddisruptionbudgets")
		if err == nil && left != "" {
			err = fmt.Errorf("these objects still exist: %s", left)
		}
		return err
	})
	s.kubectl("get", "secret", "creds")
}
