package status_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// TestServingPods checks that only a ready pod counts whose ReplicaSet belongs to the Deployment, by their UIDs.
func TestServingPods(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   int
	}{
		"ready":           {func(*corev1.Pod) {}, 1},
		"older revision":  {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "rs-old" }, 1},
		"not ready":       {func(p *corev1.Pod) { p.Status.Conditions = nil }, 0},
		"terminating":     {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, 0},
		"ended":           {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, 0}, // its address is free
		"no owner":        {func(p *corev1.Pod) { p.OwnerReferences = nil }, 0},
		"not controlled":  {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, 0},
		"name of the set": {func(p *corev1.Pod) { p.OwnerReferences[0].UID, p.OwnerReferences[0].Name = "x", "new" }, 0},
		"other set":       {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "rs-foreign" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			foreign := replicaSet("foreign", "9", 1)
			foreign.OwnerReferences[0].UID = "another"
			sets := []appsv1.ReplicaSet{replicaSet("old", "1", 1), replicaSet("new", "2", 1), foreign}
			p := corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					OwnerReferences: []metav1.OwnerReference{{UID: types.UID("rs-new"), Controller: new(true)}},
				},
				Status: corev1.PodStatus{
					Phase:      corev1.PodRunning,
					Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
				},
			}
			tc.change(&p)
			if got := status.ServingPods("d", sets, []corev1.Pod{p}); len(got) != tc.want {
				t.Errorf("%d pods, want %d", len(got), tc.want)
			}
		})
	}
}
