//go:build node

package node

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// operatorPods returns the operator's pods.
func operatorPods(t testing.TB) []corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	err := cluster.List(t.Context(), &pods, client.InNamespace(names.OperatorNamespace),
		client.MatchingLabels{"control-plane": "controller-manager"})
	if err != nil {
		t.Fatal(err)
	}
	return pods.Items
}

// leader returns the pod that holds the lease.
func leader(t testing.TB) (string, error) {
	t.Helper()
	lease := &coordinationv1.Lease{}
	err := cluster.Get(t.Context(), client.ObjectKey{Namespace: names.OperatorNamespace, Name: names.LeaderElectionID},
		lease)
	if err != nil {
		return "", err
	}
	holder := lease.Spec.HolderIdentity
	for _, pod := range operatorPods(t) {
		if holder != nil && len(*holder) > len(pod.Name) && (*holder)[:len(pod.Name)] == pod.Name &&
			pod.DeletionTimestamp == nil {
			return pod.Name, nil
		}
	}
	return "", errors.New("no pod of the operator holds the lease")
}

// Two operator pods run under the restricted Pod Security standard, as a non-root user, and one of them is the leader.
// When the leader is killed, the other pod becomes the leader. The test does not run in parallel with other scenarios,
// because they would have to wait for the new leader.
func TestOperatorPods(t *testing.T) {
	s := newScenario(t)
	pods := operatorPods(t)
	if len(pods) != operatorReplicas || slices.ContainsFunc(pods, func(p corev1.Pod) bool { return !isReady(&p) }) {
		t.Fatalf("the operator has %d pods, want %d ready pods", len(pods), operatorReplicas)
	}
	namespace := &corev1.Namespace{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Name: names.OperatorNamespace}, namespace); err != nil {
		t.Fatal(err)
	}
	if got := namespace.Labels["pod-security.kubernetes.io/enforce"]; got != "restricted" {
		t.Errorf("the namespace enforces %q", got)
	}
	var first string
	s.eventually(func() (err error) { first, err = leader(t); return err })
	s.apply(stack("before", fmt.Sprintf(serving, "first", "")))
	s.ready("before")

	if _, err := kubectl(t.Context(), nil, "delete", "pod", "--namespace="+names.OperatorNamespace, first,
		"--grace-period=0", "--force"); err != nil {
		t.Fatal(err)
	}
	s.apply(stack("after", fmt.Sprintf(serving, "first", "")))
	s.ready("after")
	s.eventually(func() error {
		second, err := leader(t)
		if err == nil && second == first {
			err = fmt.Errorf("%s still holds the lease", first)
		}
		return err
	})
	for _, pod := range operatorPods(t) {
		for _, container := range pod.Status.ContainerStatuses {
			if container.RestartCount > 0 {
				t.Errorf("%s was restarted %d times", pod.Name, container.RestartCount)
			}
		}
	}
}
