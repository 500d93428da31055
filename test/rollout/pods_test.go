package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// quota limits the number of pods in the test's namespace, and waits until the quota counts the existing pods.
func (b *bench) quota(t *testing.T, pods string, used int64) *corev1.ResourceQuota {
	t.Helper()
	quota := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)},
	}}
	quota.Namespace, quota.Name = b.namespace, "full"
	testutil.Must(t, b.Create(t.Context(), quota))
	eventually(t, func() error {
		b.get(t, "full", quota)
		if counted, found := quota.Status.Used[corev1.ResourcePods]; !found || counted.Value() != used {
			return fmt.Errorf("the quota counts %v pods, want %d", counted.Value(), used)
		}
		return nil
	})
	return quota
}

// If a quota does not allow an additional pod for a change, the old pod is not stopped. The status contains the API
// server's message. When the quota allows an additional pod, the rollout continues.
func testQuota(t *testing.T, b *bench) {
	b.apply(t, "my", configured("one", "well"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	before, _ := b.pods(t, "my")
	quota := b.quota(t, "1", 1)

	b.apply(t, "my", configured("two", "well"))
	failed := b.condition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed)
	if want := "exceeded quota: full, requested: pods=1, used: pods=1, limited: pods=1"; !strings.Contains(failed.Message, want) {
		t.Errorf("message %q, want %q in it", failed.Message, want)
	}
	if serving, others := b.pods(t, "my"); !slices.Equal(serving, before) || len(others) > 0 {
		t.Errorf("pods %v serve and %v do not, want %v", serving, others, before)
	}

	more := quota.DeepCopy()
	more.Spec.Hard[corev1.ResourcePods] = resource.MustParse("3")
	testutil.Must(t, b.Patch(t.Context(), more, client.MergeFrom(quota)))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.serves(t, "my", 1)
	if serving, _ := b.pods(t, "my"); slices.Equal(serving, before) {
		t.Errorf("the change did not take effect: pods %v serve", serving)
	}
}

// A killed pod is replaced. The status reports first that a pod is missing, and then that the new pod is available. The
// kubelet is stopped until the first state is observed.
func testKilledPod(t *testing.T, b *bench) {
	b.apply(t, "my", configured("one", "well"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	before, _ := b.pods(t, "my")

	b.stopKubelet()
	b.kubectl(t, "delete", "pod", before[0], "--grace-period=0", "--force")
	b.condition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonReplicasUnavailable)
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	if stack.Status.AvailableReplicas != 0 {
		t.Errorf("%d replicas are available, want none", stack.Status.AvailableReplicas)
	}

	b.startKubelet()
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.serves(t, "my", 1)
	if serving, _ := b.pods(t, "my"); slices.Equal(serving, before) {
		t.Error("the pod was not replaced")
	}
}
