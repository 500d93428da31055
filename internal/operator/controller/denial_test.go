package controller_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestDenialOfAChange checks that the running pods do not change if the API server rejects a change, and that the
// status shows that only a change to the stack helps if the rejected object is invalid.
func TestDenialOfAChange(t *testing.T) {
	const running = `{distribution: {name: starter}, workload: {replicas: 1}}`
	env := controllertest.NewEnvironment(t)
	env.StartWithReadyStack(t, running)
	env.WaitUntilIdle(t, env.Namespace)
	before := env.GetDeployment(t)
	env.UpdateSpec(t, "my", `{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {securityContext: {windowsOptions: {runAsUserName: ""}}}}}}}`)
	const refused = `spec.workload.overrides.podTemplate.spec.securityContext.windowsOptions.runAsUserName: the API server rejects ` +
		`Deployment "my": Invalid value: "": runAsUserName cannot be an empty string`
	for condition, want := range map[string][2]string{
		v1alpha2.ConditionDeploymentUpdated: {v1alpha2.ReasonDeploymentUpdateFailed, refused},
		v1alpha2.ConditionReady:             {v1alpha2.ReasonDeploymentUpdateFailed, "DeploymentUpdated is False; its message contains the details"},
		v1alpha2.ConditionStalled:           {v1alpha2.ReasonDeploymentUpdateFailed, "You must change the stack; see the condition DeploymentUpdated"},
		v1alpha2.ConditionAvailable:         {v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with an earlier config"},
	} {
		controllertest.WaitUntil(t, func() error { return env.CheckCondition(t, "my", condition, want[0], want[1]) })
	}
	env.WaitForEvent(t, corev1.EventTypeWarning, v1alpha2.EventDeploymentUpdateFailed)
	env.CheckDeploymentUnchanged(t, before)
	env.UpdateSpec(t, "my", running)
	env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	if diff := cmp.Diff(before.Spec, env.GetDeployment(t).Spec); diff != "" {
		t.Errorf("the Deployment changed:\n%s", diff)
	}
}

// TestRefusalsAreIndependent checks that the objects that refer to the pods do not depend on each other: if the API
// server rejects two of them, changes to the other objects take effect.
func TestRefusalsAreIndependent(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "independent")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, networking: {expose: {hostname: independent.example.com}}, workload: {replicas: 2}}`))
	env.WaitForRouteURL(t, "my", "http://independent.example.com")
	allowBudgets := env.DenyWrites(t, "policy", "poddisruptionbudgets", "no budgets", &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "probe"}})
	allowServices := env.DenyWrites(t, "", "services", "no services", &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	})
	env.UpdateSpec(t, "my", `{distribution: {name: starter}, networking: {port: 9000, allowedFrom: {namespaces: [web]}}, `+
		`workload: {replicas: 2, workers: 2, podDisruptionBudget: {minAvailable: 1}, autoscaling: {maxReplicas: 3}}}`)
	want := strings.ReplaceAll(`apply Service "my-service": services "my-service" is forbidden: `+
		`ValidatingAdmissionPolicy 'NS-services' with binding 'NS-services' denied request: no services`+"\n"+
		`apply PodDisruptionBudget "my-pdb": poddisruptionbudgets.policy "my-pdb" is forbidden: `+
		`ValidatingAdmissionPolicy 'NS-poddisruptionbudgets' with binding 'NS-poddisruptionbudgets' denied request: no budgets`, "NS", env.Namespace)
	controllertest.WaitUntil(t, func() error {
		return env.CheckCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed, want)
	})
	if got := env.GetStack(t).Status.ServiceURL; !strings.HasSuffix(got, ":8321") {
		t.Errorf("service URL %q, want that of the Service that the API server has", got)
	}
	env.WaitForChild(t, "my-network-policy", &networkingv1.NetworkPolicy{})
	env.WaitForChild(t, "my-hpa", &autoscalingv2.HorizontalPodAutoscaler{})
	env.WaitForNoChild(t, "my-ingress", &networkingv1.Ingress{})
	env.WaitForRouteURL(t, "my", "")
	if err := env.CheckCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutInProgress, "0/2 replicas available with current config"); err != nil {
		t.Error(err)
	}
	allowBudgets()
	allowServices()
	env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
}

// TestRefusedPolicy checks that the NetworkPolicy is applied before the Deployment. If the policy is rejected, no pods
// are created.
func TestRefusedPolicy(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	allow := env.DenyWrites(t, "networking.k8s.io", "networkpolicies", "no policies", &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "probe"}})
	env.StartReconciler(t, "policy")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, networking: {allowedFrom: {namespaces: [web]}}}`))
	condition := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed)
	if !strings.Contains(condition.Message, "no policies") {
		t.Errorf("message %q", condition.Message)
	}
	if err := env.Client.Get(t.Context(), env.Key("my"), &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("there is a Deployment without a NetworkPolicy: %v", err)
	}
	allow()
	env.WaitForChild(t, "my", &appsv1.Deployment{})
	env.WaitForChild(t, "my-network-policy", &networkingv1.NetworkPolicy{})
}
