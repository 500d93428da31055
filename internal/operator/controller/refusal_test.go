package controller_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestTakeOverKeepsTheTemplate checks that a Deployment that an older operator wrote is taken over without a restart of
// its pods, and that the status reports the pending differences.
func TestTakeOverKeepsTheTemplate(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	stack := env.NewStack(t, "my", `{distribution: {name: starter}}`)
	env.Create(t, stack)
	old := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: "my", Labels: map[string]string{"app.kubernetes.io/managed-by": "llama-stack-operator"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(stack, v1alpha2.GroupVersionKind)},
		},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{
				"app":                        "llama-stack",
				"app.kubernetes.io/instance": "my",
			}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "llama-stack", "app.kubernetes.io/instance": "my"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "llama-stack", Image: "docker.io/llamastack/distribution-starter:latest",
					Env: []corev1.EnvVar{{Name: "HF_HOME", Value: "/.llama"}},
				}}},
			},
		},
	}
	old.Namespace = env.Namespace
	testutil.Must(t, env.Client.Create(t.Context(), old, client.FieldOwner("manager")))
	env.StartReconciler(t, "take-over")
	condition := env.WaitForCondition(t, "my", v1alpha2.ConditionAdopted, v1alpha2.ReasonRenderingDiffers)
	if !strings.Contains(condition.Message, "image") {
		t.Errorf("the message does not list the differences: %s", condition.Message)
	}
	now := env.GetDeployment(t)
	if diff := cmp.Diff(old.Spec.Template, now.Spec.Template); diff != "" {
		t.Errorf("the template changed:\n%s", diff)
	}
	for _, entry := range now.ManagedFields {
		if entry.Manager == "manager" {
			t.Error("the older operator still owns fields")
		}
	}

	// The next change to the spec applies the rendered template.
	env.Get(t, "my", stack)
	stack.Spec.Workload = &v1alpha2.WorkloadSpec{Workers: new(int32(2))}
	env.Update(t, stack)
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", stack)
		if meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionAdopted) != nil {
			return fmt.Errorf("the template is not applied yet")
		}
		return nil
	})
}
