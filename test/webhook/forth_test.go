package webhook

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// olderMark is an environment variable that only the operator for v1alpha1 sets.
const olderMark = "OLDER"

// forthAgain makes the changes that the operator for v1alpha1 makes after a rollback, and installs this operator again.
// This operator must not replace the older operator's pods until their stack changes.
func (c *cluster) forthAgain(t *testing.T) {
	t.Helper()
	const applied, replaced, untouched = "minimal", "storage", "expose"
	c.olderApplies(t, applied)
	c.olderReplaces(t, replaced)
	left := map[string]*appsv1.Deployment{}
	for _, stack := range []string{applied, replaced, untouched} {
		c.olderStatus(t, stack)
		left[stack] = c.rendered(t, stack)
	}

	c.Install(t)
	c.startReplicas(t)
	for stack, before := range left {
		c.waitForStatus(t, stack)
		now := c.rendered(t, stack)
		if diff := cmp.Diff(before.Spec.Template, now.Spec.Template); diff != "" {
			t.Errorf("the operator replaced the pods of %q (-before +now):\n%s", stack, diff)
		}
		if record, _ := rollout.Parse(now.Annotations); (record.Kept == nil) != (stack == untouched) {
			t.Errorf("the record of %q is %+v", stack, record)
		}
	}
	for _, stack := range []string{applied, replaced} {
		edit := `{"spec":{"server":{"containerSpec":{"env":[{"name":"EDITED","value":"yes"}]}}}}`
		testutil.Must(t, c.edit(t, v1alpha1.GroupVersion.Version, stack, edit))
		testutil.Within(t, patience, func() error {
			if env := c.rendered(t, stack).Spec.Template.Spec.Containers[0].Env; !hasEnv(env, "EDITED") ||
				hasEnv(env, olderMark) {
				return fmt.Errorf("%q has the variables %v after an edit", stack, env)
			}
			return nil
		})
	}
}

func hasEnv(env []corev1.EnvVar, name string) bool {
	return slices.ContainsFunc(env, func(v corev1.EnvVar) bool { return v.Name == name })
}

func (c *cluster) rendered(t testing.TB, stack string) *appsv1.Deployment {
	t.Helper()
	found := &appsv1.Deployment{}
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: names.Deployment(stack)},
		found))
	return found
}

// olderApplies applies a pod template to the existing Deployment as the operator for v1alpha1 does: with the name of
// the stack as the field manager.
func (c *cluster) olderApplies(t testing.TB, stack string) {
	t.Helper()
	live := c.rendered(t, stack)
	server := live.Spec.Template.Spec.Containers[0]
	sent := appsv1ac.Deployment(live.Name, live.Namespace).WithSpec(appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(live.Spec.Selector.MatchLabels)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(live.Spec.Template.Labels).WithSpec(corev1ac.PodSpec().
			WithContainers(corev1ac.Container().WithName(server.Name).WithImage("older:latest").
				WithEnv(corev1ac.EnvVar().WithName(olderMark).WithValue("yes"))))))
	testutil.Must(t, c.Apply(t.Context(), sent, client.FieldOwner(stack), client.ForceOwnership))
}

// olderReplaces replaces a Deployment, as the operator for v1alpha1 does to remove a volume.
func (c *cluster) olderReplaces(t testing.TB, stack string) {
	t.Helper()
	live := c.rendered(t, stack)
	live.Annotations, live.Labels, live.Spec.Template.Annotations = nil, nil, nil
	server := &live.Spec.Template.Spec.Containers[0]
	server.Image, server.Env = "older:latest", []corev1.EnvVar{{Name: olderMark, Value: "yes"}}
	testutil.Must(t, c.Update(t.Context(), live, client.FieldOwner("manager")))
}

// olderStatus writes the status of a stack as the operator for v1alpha1 does.
func (c *cluster) olderStatus(t testing.TB, stack string) {
	t.Helper()
	object := c.get(t, v1alpha1.GroupVersion.Version, stack)
	version := map[string]any{"operatorVersion": "older", "lastUpdated": metav1.Now().UTC().Format(time.RFC3339)}
	testutil.Must(t, unstructured.SetNestedField(object.Object, version, "status", "version"))
	testutil.Must(t, c.Status().Update(t.Context(), object, client.FieldOwner("manager")))
}

// waitForStatus waits until this operator has written the status of a stack. The older definition has no field for the
// observed generation.
func (c *cluster) waitForStatus(t testing.TB, stack string) {
	t.Helper()
	testutil.Within(t, patience, func() error {
		object := c.get(t, v1alpha2.GroupVersion.Version, stack)
		if observed, _, _ := unstructured.NestedInt64(object.Object, "status",
			"observedGeneration"); observed != object.GetGeneration() {
			return fmt.Errorf("the status of %q is for generation %d, want %d", stack, observed, object.GetGeneration())
		}
		return nil
	})
}
