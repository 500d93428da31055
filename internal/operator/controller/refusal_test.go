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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestDrift checks that the operator restores changed fields and deleted children, and that fields that other managers
// own are kept.
func TestDrift(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "drift")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	deployment := env.GetDeployment(t)
	image := deployment.Spec.Template.Spec.Containers[0].Image
	patch := `{"metadata":{"annotations":{"theirs":"x"}},"spec":{"template":{"spec":{"containers":[{"name":"llama-stack","image":"evil"}]}}}}`
	if err := env.Client.Patch(t.Context(), deployment,
		client.RawPatch(types.StrategicMergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", deployment)
		if got := deployment.Spec.Template.Spec.Containers[0].Image; got != image {
			return fmt.Errorf("image %q", got)
		}
		return nil
	})
	if deployment.Annotations["theirs"] != "x" {
		t.Error("the annotation of another client is missing")
	}
	for _, object := range []client.Object{&corev1.Service{ObjectMeta: controllertest.ObjectMeta(env.Namespace, "my-service")}, &corev1.ServiceAccount{ObjectMeta: controllertest.ObjectMeta(env.Namespace, "my-sa")}} {
		uid := func() (types.UID, error) {
			err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			return object.GetUID(), err
		}
		before, err := uid()
		if err != nil {
			t.Fatal(err)
		}
		env.Delete(t, object)
		controllertest.WaitUntil(t, func() error {
			after, err := uid()
			if err == nil && after == before {
				err = fmt.Errorf("%T is not deleted yet", object)
			}
			return err
		})
	}
}

// TestPrune checks that objects that a spec no longer needs are deleted, and that a claim and the previous
// configuration are kept.
func TestPrune(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"))
	env.StartReconciler(t, "prune")
	env.Create(t, env.NewStack(t, "my", controllertest.SecretSpec))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	for _, spec := range []string{
		strings.Replace(controllertest.SecretSpec, "[llama]", "[llama2]", 1),
		strings.Replace(controllertest.SecretSpec, "[llama]", "[llama3]", 1),
		`{distribution: {name: starter}, resources: {models: [llama4]}, workload: {overrides: {serviceAccountName: default}}}`,
	} {
		stack := env.GetStack(t)
		stack.Spec = env.NewStack(t, "my", spec).Spec
		env.Update(t, stack)
		env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	}
	controllertest.WaitUntil(t, func() error {
		err := env.Client.Get(t.Context(), env.Key("my-sa"), &corev1.ServiceAccount{})
		if client.IgnoreNotFound(err) != nil ||
			err == nil {
			return fmt.Errorf("the ServiceAccount still exists: %w", err)
		}
		var configs corev1.ConfigMapList
		if err := env.Client.List(t.Context(), &configs, client.InNamespace(env.Namespace),
			client.MatchingLabels{"llamastack.io/config": "generated"}); err != nil {
			return err
		}
		if len(configs.Items) != 2 {
			return fmt.Errorf("%d configurations, want the current one and the previous one", len(configs.Items))
		}
		return nil
	})
	env.Get(t, "my-pvc", &corev1.PersistentVolumeClaim{})
}

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
	if err := env.Client.Create(t.Context(), old, client.FieldOwner("manager")); err != nil {
		t.Fatal(err)
	}
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

// TestConfigMapNameThatIsTaken checks that the operator reports another object that has the name of the ConfigMap
// with the configuration, and does not write this object. After the object is deleted, the operator creates the
// ConfigMap.
func TestConfigMapNameThatIsTaken(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	first := env.StartReconciler(t, "taken")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	stack := env.GetStack(t)
	name := stack.Status.GeneratedConfigMap()
	first.Stop(t)
	env.Delete(t, &corev1.ConfigMap{ObjectMeta: controllertest.ObjectMeta(env.Namespace, name)})
	env.Create(t, controllertest.NewConfigMap(name, "config.yaml", "somebody else's"))
	env.StartReconciler(t, "taken")
	env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonOwnershipConflict)
	configMap := &corev1.ConfigMap{}
	if env.Get(t, name, configMap); configMap.Data["config.yaml"] != "somebody else's" {
		t.Error("the ConfigMap of another owner was written")
	}
	env.Delete(t, configMap)
	env.PatchStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		stack.Annotations = map[string]string{"somebody": "touched it"}
	})
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	if env.Get(t, name, configMap); configMap.Data["config.yaml"] == "somebody else's" {
		t.Error("the ConfigMap was not created again")
	}
}

// TestTerminating checks that the status reports the deletion of a stack, and that the operator does not create a
// deleted child again.
func TestTerminating(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "terminating")
	stack := env.NewStack(t, "my", `{distribution: {name: starter}}`)
	stack.Finalizers = []string{"example.com/somebody-else"}
	env.Create(t, stack)
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.Delete(t, stack)
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", stack)
		if stack.Status.Phase != v1alpha2.PhaseTerminating {
			return fmt.Errorf("phase %q", stack.Status.Phase)
		}
		return nil
	})
	service := &corev1.Service{}
	env.Get(t, "my-service", service)
	env.Delete(t, service)
	env.WaitUntilIdle(t, "terminating")
	if err := env.Client.Get(t.Context(), env.Key("my-service"), service); client.IgnoreNotFound(err) != nil ||
		err == nil {
		t.Errorf("a child was created again: %v", err)
	}
	stack.Finalizers = nil
	env.Update(t, stack)
}
