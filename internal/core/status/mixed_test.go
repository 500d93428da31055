package status_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// podOf returns a pod of a ReplicaSet. `ready` is the status of its condition Ready, and `ending` states whether the
// pod is terminating.
func podOf(set *appsv1.ReplicaSet, ready corev1.ConditionStatus, ending bool) corev1.Pod {
	pod := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: ready},
	}}}
	if set != nil {
		pod.OwnerReferences = []metav1.OwnerReference{{UID: set.UID, Controller: new(true)}}
	}
	if ending {
		pod.DeletionTimestamp = new(metav1.Now())
	}
	return pod
}

func TestMixed(t *testing.T) {
	before, now := replicaSet("old", "9", 0), replicaSet("new", "10", 1)
	both := []appsv1.ReplicaSet{before, now}
	serves := podOf(&now, corev1.ConditionTrue, false)
	counted := func(revision string) *appsv1.Deployment {
		d := deployment(1, 1, 1, 1)
		d.Annotations = map[string]string{"deployment.kubernetes.io/revision": revision}
		return d
	}
	pods := func(pods ...corev1.Pod) []corev1.Pod { return pods }
	const is, not = corev1.ConditionTrue, corev1.ConditionFalse
	for name, tc := range map[string]struct {
		deployment *appsv1.Deployment
		sets       []appsv1.ReplicaSet
		pods       []corev1.Pod
		want       bool
	}{
		"no Deployment":                              {},
		"one current pod":                            {counted("10"), both, pods(serves), false},
		"a pod of the previous template":             {counted("10"), both, pods(serves, podOf(&before, is, false)), true},
		"a terminating pod of the previous template": {counted("10"), both, pods(serves, podOf(&before, is, true)), false},
		"a stopped pod of the previous template":     {counted("10"), both, pods(serves, podOf(&before, not, true)), false},
		"a terminating current pod":                  {counted("10"), both, pods(serves, podOf(&now, is, true)), false},
		"a pod without an owner":                     {counted("10"), both, pods(serves, podOf(nil, is, false)), false},
		"a pod whose ReplicaSet is not cached":       {deployment(1, 1, 1, 1), nil, pods(serves), false},
		"the newest ReplicaSet is not cached":        {counted("10"), both[:1], pods(podOf(&before, is, false)), true},
		"no ReplicaSet is cached":                    {counted("10"), nil, nil, true},
		"an outdated revision of the Deployment":     {counted("9"), both, pods(serves), false},
		"the Deployment has no revision":             {deployment(1, 1, 1, 1), both, pods(serves), false},
	} {
		t.Run(name, func(t *testing.T) {
			got := status.Workload(status.WorkloadInput{Deployment: tc.deployment, ReplicaSets: tc.sets, Pods: tc.pods})
			if got.Mixed != tc.want {
				t.Errorf("mixed: %t, want %t", got.Mixed, tc.want)
			}
		})
	}
}
