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
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// TestRefusals checks that a failure that no change of the cluster can fix ends as Stalled, with the whole message.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name, spec        string
		condition, reason string
		message           string
	}{
		{
			"unknown distribution", `{distribution: {name: startr}}`, v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonUnknownDistribution,
			`spec.distribution.name: unknown distribution "startr"; known distributions: meta-reference-gpu, postgres-demo, remote-vllm, starter; or set an image`,
		},
		{
			"resource without its provider", `{distribution: {name: starter}, resources: {models: [{name: m, provider: nobody}]}}`,
			v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonMissingProviderForResource, `"nobody" is not a configured inference provider`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.direct(t, "refused")
			b.create(t, b.stack(t, "my", tc.spec))
			condition := b.condition(t, "my", tc.condition, tc.reason)
			if !strings.Contains(condition.Message, tc.message) {
				t.Errorf("message:\n got %s\nwant %s", condition.Message, tc.message)
			}
			b.condition(t, "my", v1alpha2.ConditionStalled, tc.reason)
			b.condition(t, "my", v1alpha2.ConditionReady, tc.reason)
			stack := &v1alpha2.LlamaStackDistribution{}
			b.get(t, "my", stack)
			if stack.Status.Phase != v1alpha2.PhaseFailed {
				t.Errorf("phase %q, want Failed", stack.Status.Phase)
			}
			b.nothingApplied(t)
		})
	}
}

func TestBareImageRunsItsOwnConfiguration(t *testing.T) {
	b := newBench(t)
	b.start(t, "bare")
	b.create(t, b.stack(t, "my", `{distribution: {image: "example.com/mine:1"}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonDistributionDefaultUsed)
	deployment := &appsv1.Deployment{}
	b.get(t, "my", deployment)
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "example.com/mine:1" {
		t.Errorf("image %q", got)
	}
}

// TestDrift checks that drift is corrected, and that fields of other managers stay.
func TestDrift(t *testing.T) {
	b := newBench(t)
	b.direct(t, "drift")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	deployment := &appsv1.Deployment{}
	b.get(t, "my", deployment)
	image := deployment.Spec.Template.Spec.Containers[0].Image
	patch := `{"metadata":{"annotations":{"theirs":"x"}},"spec":{"template":{"spec":{"containers":[{"name":"llama-stack","image":"evil"}]}}}}`
	if err := b.Patch(t.Context(), deployment, client.RawPatch(types.StrategicMergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		b.get(t, "my", deployment)
		if got := deployment.Spec.Template.Spec.Containers[0].Image; got != image {
			return fmt.Errorf("image %q", got)
		}
		return nil
	})
	if deployment.Annotations["theirs"] != "x" {
		t.Error("somebody's annotation is gone")
	}
	for _, object := range []client.Object{&corev1.Service{ObjectMeta: objectMeta(b.namespace, "my-service")}, &corev1.ServiceAccount{ObjectMeta: objectMeta(b.namespace, "my-sa")}} {
		uid := func() (types.UID, error) {
			err := b.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			return object.GetUID(), err
		}
		before, err := uid()
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error {
			after, err := uid()
			if err == nil && after == before {
				err = fmt.Errorf("%T is not deleted yet", object)
			}
			return err
		})
	}
}

// TestPrune checks that objects that a spec no longer needs are deleted, and that a claim and the previous
// configuration stay.
func TestPrune(t *testing.T) {
	b := newBench(t)
	b.create(t, secret("vllm-creds", "token", "sk-abc"))
	b.direct(t, "prune")
	b.create(t, b.stack(t, "my", fullSpec))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	for _, spec := range []string{
		strings.Replace(fullSpec, "[llama]", "[llama2]", 1),
		strings.Replace(fullSpec, "[llama]", "[llama3]", 1),
		`{distribution: {name: starter}, resources: {models: [llama4]}, workload: {overrides: {serviceAccountName: default}}}`,
	} {
		stack := &v1alpha2.LlamaStackDistribution{}
		b.get(t, "my", stack)
		stack.Spec = b.stack(t, "my", spec).Spec
		if err := b.Update(t.Context(), stack); err != nil {
			t.Fatal(err)
		}
		b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	}
	eventually(t, func() error {
		if err := b.Get(t.Context(), b.key("my-sa"), &corev1.ServiceAccount{}); client.IgnoreNotFound(err) != nil ||
			err == nil {
			return fmt.Errorf("the ServiceAccount stays: %w", err)
		}
		var configs corev1.ConfigMapList
		if err := b.List(t.Context(), &configs, client.InNamespace(b.namespace),
			client.MatchingLabels{"llamastack.io/config": "generated"}); err != nil {
			return err
		}
		if len(configs.Items) != 2 {
			return fmt.Errorf("%d configurations, want the current and the previous one", len(configs.Items))
		}
		return nil
	})
	b.get(t, "my-pvc", &corev1.PersistentVolumeClaim{})
}

// TestTakeOverKeepsTheTemplate checks that a Deployment that an older operator wrote is taken over without a restart of
// its pods, and that the status reports the pending differences.
func TestTakeOverKeepsTheTemplate(t *testing.T) {
	b := newBench(t)
	stack := b.stack(t, "my", `{distribution: {name: starter}}`)
	b.create(t, stack)
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
	old.Namespace = b.namespace
	if err := b.Create(t.Context(), old, client.FieldOwner("manager")); err != nil {
		t.Fatal(err)
	}
	b.direct(t, "take-over")
	condition := b.condition(t, "my", v1alpha2.ConditionAdopted, v1alpha2.ReasonRenderingDiffers)
	if !strings.Contains(condition.Message, "image") {
		t.Errorf("the message does not say what differs: %s", condition.Message)
	}
	now := &appsv1.Deployment{}
	b.get(t, "my", now)
	if diff := cmp.Diff(old.Spec.Template, now.Spec.Template); diff != "" {
		t.Errorf("the template changed:\n%s", diff)
	}
	for _, entry := range now.ManagedFields {
		if entry.Manager == "manager" {
			t.Error("the older operator still owns fields")
		}
	}

	// The next change of the spec adopts.
	b.get(t, "my", stack)
	stack.Spec.Workload = &v1alpha2.WorkloadSpec{Workers: new(int32(2))}
	if err := b.Update(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		b.get(t, "my", stack)
		if meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionAdopted) != nil {
			return fmt.Errorf("not adopted yet")
		}
		return nil
	})
}

// TestConfigMapNameThatIsTaken checks that the longer name is used if the name of a configuration, which is a hash of
// its content, is taken by another object.
func TestConfigMapNameThatIsTaken(t *testing.T) {
	b := newBench(t)
	first := b.direct(t, "taken")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	name := stack.Status.GeneratedConfigMap()
	first.stop(t)
	if err := b.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: objectMeta(b.namespace, name)}); err != nil {
		t.Fatal(err)
	}
	b.create(t, configMap(name, "config.yaml", "somebody else's"))
	b.direct(t, "taken")
	eventually(t, func() error {
		b.get(t, "my", stack)
		if got := stack.Status.GeneratedConfigMap(); got == name || !strings.HasPrefix(got, name) {
			return fmt.Errorf("generated ConfigMap %q, want the long form of %q", got, name)
		}
		return nil
	})
	deployment := &appsv1.Deployment{}
	b.get(t, "my", deployment)
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		if volume.Name == names.ConfigVolume && volume.ConfigMap.Name != stack.Status.GeneratedConfigMap() {
			t.Errorf("the pods mount %q", volume.ConfigMap.Name)
		}
	}
	foreign := &corev1.ConfigMap{}
	b.get(t, name, foreign)
	if foreign.Data["config.yaml"] != "somebody else's" {
		t.Error("the foreign ConfigMap was written to")
	}
}

// TestTerminating checks that the deletion of a stack is reported, and that nothing else is done.
func TestTerminating(t *testing.T) {
	b := newBench(t)
	b.direct(t, "terminating")
	stack := b.stack(t, "my", `{distribution: {name: starter}}`)
	stack.Finalizers = []string{"example.com/somebody-else"}
	b.create(t, stack)
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	if err := b.Delete(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		b.get(t, "my", stack)
		if stack.Status.Phase != v1alpha2.PhaseTerminating {
			return fmt.Errorf("phase %q", stack.Status.Phase)
		}
		return nil
	})
	service := &corev1.Service{}
	b.get(t, "my-service", service)
	if err := b.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	b.settled(t, "terminating")
	if err := b.Get(t.Context(), b.key("my-service"), service); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a child came back: %v", err)
	}
	stack.Finalizers = nil
	if err := b.Update(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
}
