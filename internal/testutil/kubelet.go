package testutil

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RunKubelet sets the state of each new pod until the end of the test, because the cluster has no node. A pod whose
// state is nil stays as it is.
func (c *Cluster) RunKubelet(t testing.TB, state func(*corev1.Pod) *corev1.PodStatus) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			var pods corev1.PodList
			_ = c.List(ctx, &pods) // the next iteration repeats a failed call
			for i := range pods.Items {
				pod := &pods.Items[i]
				if len(pod.Status.ContainerStatuses) > 0 || pod.DeletionTimestamp != nil {
					continue
				}
				if now := state(pod); now != nil {
					patch := client.MergeFrom(pod.DeepCopy())
					pod.Status = *now
					_ = c.Status().Patch(ctx, pod, patch) // the next iteration repeats a failed call
				}
			}
			return false, nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
}
