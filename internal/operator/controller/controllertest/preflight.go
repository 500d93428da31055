package controllertest

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ListPreflightPods returns the preflight pods of the stack "my".
func (env *Environment) ListPreflightPods(t *testing.T) []corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	if err := env.Client.List(t.Context(), &pods, client.InNamespace(env.Namespace),
		client.MatchingLabels(names.PreflightSelector("my"))); err != nil {
		t.Fatal(err)
	}
	return pods.Items
}

// WaitForPreflightPod waits until the stack "my" has exactly one preflight pod, and returns this pod. It must differ
// from the pod in the argument `before`, which can be nil.
func (env *Environment) WaitForPreflightPod(t *testing.T, before *corev1.Pod) *corev1.Pod {
	t.Helper()
	var found corev1.Pod
	WaitUntil(t, func() error {
		pods := env.ListPreflightPods(t)
		if len(pods) != 1 || before != nil && pods[0].UID == before.UID {
			return fmt.Errorf("%d preflight pods, want one that is not the previous pod", len(pods))
		}
		found = pods[0]
		return nil
	})
	return &found
}

// WaitForNoPreflight waits until the stack "my" has no preflight pod, and no objects that were created for a preflight.
func (env *Environment) WaitForNoPreflight(t *testing.T) {
	t.Helper()
	WaitUntil(t, func() error {
		if pods := env.ListPreflightPods(t); len(pods) > 0 {
			return fmt.Errorf("pod %s still exists", pods[0].Name)
		}
		for _, list := range []client.ObjectList{
			&corev1.ConfigMapList{}, &corev1.SecretList{},
			&networkingv1.NetworkPolicyList{},
		} {
			if err := env.Client.List(t.Context(), list, client.InNamespace(env.Namespace)); err != nil {
				return err
			}
			if text := fmt.Sprint(list); strings.Contains(text, names.PreflightPrefix("my")) {
				return fmt.Errorf("objects of the type %T still exist", list)
			}
		}
		return nil
	})
}
