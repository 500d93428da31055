package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// newService returns a Service with one port.
func newService(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}},
	}
}

// TestDenials checks that the rejection of a new stack's child is reported with the child's name and the API server's
// message, and that the rollout continues when the child is allowed.
func TestDenials(t *testing.T) {
	const starter = `{distribution: {name: starter}}`
	for _, tc := range []struct {
		name, spec string
		deny       func(*testing.T, *controllertest.Environment) func()
		message    string
	}{
		{
			"a policy", starter,
			func(t *testing.T, env *controllertest.Environment) func() {
				return env.DenyWrites(t, "", "services", "ask the platform team for Services", newService("probe"))
			},
			`apply Service "my-service": services "my-service" is forbidden: ValidatingAdmissionPolicy 'NS-services' with binding ` +
				`'NS-services' denied request: ask the platform team for Services`,
		},
		{
			"an exceeded quota of Services", starter,
			func(t *testing.T, env *controllertest.Environment) func() {
				return env.ExhaustQuota(t, corev1.ResourceServices)
			},
			`apply Service "my-service": services "my-service" is forbidden: exceeded quota: full, requested: services=1, used: services=1, limited: services=1`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := controllertest.NewEnvironment(t)
			allow := tc.deny(t, env)
			env.StartReconciler(t, "denied")
			env.Create(t, env.NewStack(t, "my", tc.spec))
			condition := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated,
				v1alpha2.ReasonDeploymentUpdateFailed)
			if diff := cmp.Diff(strings.ReplaceAll(tc.message, "NS", env.Namespace), condition.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			ready := env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonDeploymentUpdateFailed)
			if ready.Message != "DeploymentUpdated is False; its message contains the details" {
				t.Errorf("message of Ready: %q", ready.Message)
			}
			stack := &v1alpha2.LlamaStackDistribution{}
			if env.Get(t, "my", stack); stack.Status.ServiceURL != "" {
				t.Errorf("service URL %q without a Service", stack.Status.ServiceURL)
			}
			allow()
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			if env.Get(t, "my", stack); stack.Status.ServiceURL == "" {
				t.Error("no service URL")
			}
		})
	}
}

// deniedChanges contains changes to a running stack that the API server rejects.
var deniedChanges = []struct {
	name, spec string
	deny       func(*testing.T, *controllertest.Environment) func()
	message    string
	// needsChange reports whether only a change to the stack helps.
	needsChange bool
}{
	{
		"a policy", `{distribution: {name: starter}, workload: {workers: 2}}`,
		func(t *testing.T, env *controllertest.Environment) func() {
			probe := env.GetDeployment(t)
			probe = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: probe.Spec}
			return env.DenyWrites(t, "apps", "deployments", "no changes before the holidays", probe)
		},
		`apply Deployment "my": deployments.apps "my" is forbidden: ValidatingAdmissionPolicy 'NS-deployments' with binding ` +
			`'NS-deployments' denied request: no changes before the holidays`, false,
	},
	{
		"an invalid pod template", `{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {securityContext: {windowsOptions: {runAsUserName: ""}}}}}}}`,
		func(*testing.T, *controllertest.Environment) func() { return func() {} },
		`spec.workload.overrides.podTemplate.spec.securityContext.windowsOptions.runAsUserName: the API server rejects ` +
			`Deployment "my": Invalid value: "": runAsUserName cannot be an empty string`, true,
	},
	{
		"an exceeded quota", `{distribution: {name: starter}, workload: {preflight: Never, workers: 2, storage: {size: 1Gi}}}`,
		func(t *testing.T, env *controllertest.Environment) func() {
			return env.ExhaustQuota(t, corev1.ResourcePersistentVolumeClaims)
		},
		`apply PersistentVolumeClaim "my-pvc": persistentvolumeclaims "my-pvc" is forbidden: exceeded quota: full, requested: ` +
			`persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1`, false,
	},
}

// TestDenialOfAChange checks that the running pods do not change if the API server rejects a change partly or
// completely.
func TestDenialOfAChange(t *testing.T) {
	const running = `{distribution: {name: starter}, workload: {replicas: 1}}`
	for _, tc := range deniedChanges {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := controllertest.NewEnvironment(t)
			env.StartReconciler(t, "denied-change")
			env.CreateReadyStack(t, running)
			env.WaitUntilIdle(t, "denied-change")
			before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
			env.Get(t, "my", before)

			allow := tc.deny(t, env)
			env.UpdateSpec(t, "my", tc.spec)
			condition := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated,
				v1alpha2.ReasonDeploymentUpdateFailed)
			if diff := cmp.Diff(strings.ReplaceAll(tc.message, "NS", env.Namespace), condition.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonDeploymentUpdateFailed)
			stack := env.GetStack(t)
			if got := meta.IsStatusConditionTrue(stack.Status.Conditions, v1alpha2.ConditionStalled); got != tc.needsChange {
				t.Errorf("Stalled is %t, want %t", got, tc.needsChange)
			}
			env.WaitForEvent(t, corev1.EventTypeWarning, v1alpha2.EventDeploymentUpdateFailed)
			if err := env.CheckCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with an earlier config"); err != nil {
				t.Error(err)
			}
			env.Get(t, "my", after)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the Deployment changed:\n%s", diff)
			}
			allow()
			env.UpdateSpec(t, "my", running)
			env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
			env.MarkDeploymentReady(t, "my")
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			if err := env.CheckCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with current config"); err != nil {
				t.Error(err)
			}
			env.Get(t, "my", after)
			if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
				t.Errorf("the Deployment changed:\n%s", diff)
			}
		})
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

// TestRefusedExposure checks that the object that exposes a stack is kept if its replacement is rejected.
func TestRefusedExposure(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "refused-exposure")
	const spec = `{distribution: {name: starter}, networking: {expose: {hostname: %s.example.com}}}`
	env.Create(t, env.NewStack(t, "my", fmt.Sprintf(spec, env.Namespace)))
	env.WaitForRouteURL(t, "my", "http://"+env.Namespace+".example.com")
	env.DenyWrites(t, "networking.k8s.io", "ingresses", "ask first", &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "probe.example.com"}}},
	})
	env.UpdateSpec(t, "my", fmt.Sprintf(spec, "other-"+env.Namespace))
	condition := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed)
	want := strings.ReplaceAll(`apply Ingress "my-ingress": ingresses.networking.k8s.io "my-ingress" is forbidden: `+
		`ValidatingAdmissionPolicy 'NS-ingresses' with binding 'NS-ingresses' denied request: ask first`, "NS", env.Namespace)
	if condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	env.WaitForRouteURL(t, "my", "http://"+env.Namespace+".example.com")
	env.Get(t, "my-ingress", &networkingv1.Ingress{})
}

// TestConfigMapOfARunningStack checks that the deletion of a ConfigMap while the stack is running does not change the
// pods, and that the status reports the deletion.
func TestConfigMapOfARunningStack(t *testing.T) {
	certificate, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	for _, tc := range []struct {
		name, spec, message string
		data                *corev1.ConfigMap
		degraded            string
	}{
		{
			"override", `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`,
			`ConfigMap "mine" not found in namespace "NS". Referenced by: spec.overrideConfig.configMapName`,
			controllertest.NewConfigMap("mine", "config.yaml", "distro_name: mine\nproviders: {}\n"), "",
		},
		{
			"base", `{distribution: {name: starter}, baseConfig: {configMapName: mine}, resources: {models: [m]}, ` +
				`providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`,
			`ConfigMap "mine" not found in namespace "NS". Referenced by: spec.baseConfig.configMapName`,
			controllertest.NewConfigMap("mine", "config.yaml", "distro_name: mine\napis: [inference]\nproviders: {}\n"),
			v1alpha2.ReasonBaseConfigStale,
		},
		{
			"CA bundle", `{distribution: {name: starter}, networking: {tls: {caBundle: {configMapName: mine}}}}`,
			`ConfigMap "mine" not found in namespace "NS". Referenced by: spec.networking.tls.caBundle.configMapName`,
			controllertest.NewConfigMap("mine", "ca-bundle.crt", string(certificate)), "",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			const version = "configmap-gone"
			env := controllertest.NewEnvironment(t)
			env.Create(t, tc.data.DeepCopy())
			env.StartReconciler(t, version)
			env.CreateReadyStack(t, tc.spec)
			env.WaitUntilIdle(t, version)
			before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
			env.Get(t, "my", before)

			env.Delete(t, &corev1.ConfigMap{ObjectMeta: controllertest.ObjectMeta(env.Namespace, "mine")})
			condition := env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonConfigMapNotFound)
			if diff := cmp.Diff(controllertest.InNamespace(tc.message, env.Namespace), condition.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonConfigMapNotFound)
			env.WaitForCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable)
			stack := env.GetStack(t)
			degraded := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded)
			if got := degraded != nil; got != (tc.degraded != "") || got && degraded.Reason != tc.degraded {
				t.Errorf("degraded: %+v, want %q", degraded, tc.degraded)
			}
			env.Create(t, tc.data.DeepCopy())
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			env.WaitUntilIdle(t, version)
			env.Get(t, "my", after)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the Deployment changed:\n%s", diff)
			}
		})
	}
}
