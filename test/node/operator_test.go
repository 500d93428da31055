//go:build node

package node

import (
	"errors"
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
