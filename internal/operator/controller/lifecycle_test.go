package controller_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestRunningFirstStack follows a stack from its creation to ready pods, with an operator that watches all namespaces,
// which is the default.
func TestRunningFirstStack(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.AllNamespaces = true
	env.StartOperator(t, "v1.2.3")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, networking: {port: 9000}, resources: {models: [llama]}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	stack := env.GetStack(t)
	if stack.Status.Phase != v1alpha2.PhaseInitializing {
		t.Errorf("phase %q, want Initializing", stack.Status.Phase)
	}
	for _, child := range []client.Object{
		&appsv1.Deployment{ObjectMeta: controllertest.ObjectMeta(env.Namespace, "my")},
		&corev1.Service{ObjectMeta: controllertest.ObjectMeta(env.Namespace, "my-service")},
		&corev1.ServiceAccount{ObjectMeta: controllertest.ObjectMeta(env.Namespace, "my-sa")},
		&corev1.ConfigMap{ObjectMeta: controllertest.ObjectMeta(env.Namespace, stack.Status.GeneratedConfigMap())},
	} {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(child), child); err != nil {
			t.Error(err)
		} else if !metav1.IsControlledBy(child, stack) {
			t.Errorf("%T is not controlled by the stack", child)
		}
	}
	written := &unstructured.Unstructured{}
	written.SetGroupVersionKind(v1alpha2.GroupVersionKind)
	env.Get(t, "my", written)
	if count, found, _ := unstructured.NestedInt64(written.Object, "status", "availableReplicas"); !found || count != 0 {
		t.Errorf("availableReplicas %d, in the status: %t; want 0 in the status", count, found)
	}
	env.MarkDeploymentReady(t, "my")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	env.Get(t, "my", stack)
	want := v1alpha2.LlamaStackDistributionStatus{
		Phase: v1alpha2.PhaseReady, ObservedGeneration: 1, Replicas: 1, AvailableReplicas: 1,
		Selector:   "app=llama-stack,app.kubernetes.io/instance=my",
		ServiceURL: "http://my-service." + env.Namespace + ".svc.cluster.local:9000",
		Version:    &v1alpha2.VersionStatus{OperatorVersion: "v1.2.3"},
		ResolvedDistribution: &v1alpha2.ResolvedDistribution{
			Name: "starter", Image: controllertest.StarterImage(t), ImageFrom: v1alpha2.ImageFromCatalogue,
			ConfigSource: v1alpha2.ConfigSourceEmbedded, ServerRelease: "0.7", ServerReleaseFrom: "catalogue",
		},
	}
	if len(stack.Status.Warnings) != 1 || !strings.Contains(stack.Status.Warnings[0], `is assigned to "fireworks"`) {
		t.Errorf("warnings %q", stack.Status.Warnings)
	}
	volatile := cmpopts.IgnoreFields(v1alpha2.LlamaStackDistributionStatus{}, "Conditions", "ConfigGeneration", "Warnings")
	dates := cmpopts.IgnoreFields(v1alpha2.VersionStatus{}, "LastUpdated")
	hash := cmpopts.IgnoreFields(v1alpha2.ResolvedDistribution{}, "ConfigHash")
	if diff := cmp.Diff(want, stack.Status, volatile, dates, hash); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	generation := stack.Status.ConfigGeneration
	if generation == nil || generation.GeneratedAt == nil ||
		generation.ResourceCount != 1 || generation.ProviderCount == 0 || generation.ConfigVersion != "2" {
		t.Errorf("configGeneration %+v", generation)
	}
	if stack.Status.Version.LastUpdated == nil || len(stack.Status.ResolvedDistribution.ConfigHash) != 64 {
		t.Errorf("version %+v, configHash %q", stack.Status.Version, stack.Status.ResolvedDistribution.ConfigHash)
	}
}
