package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// forbid adds a policy that denies writes to a resource in the test's namespace, waits until the policy is in force,
// and returns a function that removes it.
func (b *bench) forbid(t *testing.T, group, resource, why string, probe client.Object) (allow func()) {
	t.Helper()
	name := b.namespace + "-" + resource
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
						Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
					},
				}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: why}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			MatchResources: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: b.namespace}},
			},
		},
	}
	for _, object := range []client.Object{policy, binding} {
		if err := b.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	probe.SetNamespace(b.namespace)
	inForce := func() bool {
		err := b.Create(t.Context(), probe.DeepCopyObject().(client.Object), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), why)
	}
	eventually(t, func() error {
		if !inForce() {
			return fmt.Errorf("the policy is not in force")
		}
		return nil
	})
	return func() {
		t.Helper()
		if err := b.Delete(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
	}
}

// fill adds a quota that is used up. No controller updates its usage in this cluster.
func (b *bench) fill(t *testing.T, resourceName corev1.ResourceName) (allow func()) {
	t.Helper()
	one := corev1.ResourceList{resourceName: resource.MustParse("1")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: corev1.ResourceQuotaSpec{Hard: one}}
	b.create(t, quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: one, Used: one}
	if err := b.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := b.Delete(t.Context(), quota); err != nil {
			t.Fatal(err)
		}
	}
}

func service(name string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}
}

// TestDenials checks that the rejection of a new stack's child is reported with the child's name and the API server's
// message, and that the stack continues when the child is allowed.
func TestDenials(t *testing.T) {
	const starter = `{distribution: {name: starter}}`
	for _, tc := range []struct {
		name, spec string
		deny       func(*testing.T, *bench) func()
		message    string
	}{
		{
			"a policy", starter,
			func(t *testing.T, b *bench) func() {
				return b.forbid(t, "", "services", "ask the platform team for Services", service("probe"))
			},
			`apply Service "my-service": services "my-service" is forbidden: ValidatingAdmissionPolicy 'NS-services' with binding ` +
				`'NS-services' denied request: ask the platform team for Services`,
		},
		{
			"a quota of Services", starter,
			func(t *testing.T, b *bench) func() { return b.fill(t, corev1.ResourceServices) },
			`apply Service "my-service": services "my-service" is forbidden: exceeded quota: full, requested: services=1, used: services=1, limited: services=1`,
		},
		{
			"a quota of claims", `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`,
			func(t *testing.T, b *bench) func() { return b.fill(t, corev1.ResourcePersistentVolumeClaims) },
			`apply PersistentVolumeClaim "my-pvc": persistentvolumeclaims "my-pvc" is forbidden: exceeded quota: full, requested: ` +
				`persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			allow := tc.deny(t, b)
			b.direct(t, "denied")
			b.create(t, b.stack(t, "my", tc.spec))
			condition := b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed)
			if diff := cmp.Diff(strings.ReplaceAll(tc.message, "NS", b.namespace), condition.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			ready := b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonDeploymentUpdateFailed)
			if ready.Message != "DeploymentUpdated is False; its message has the details" {
				t.Errorf("Ready says %q", ready.Message)
			}
			stack := &v1alpha2.LlamaStackDistribution{}
			if b.get(t, "my", stack); stack.Status.ServiceURL != "" {
				t.Errorf("service URL %q without a Service", stack.Status.ServiceURL)
			}
			allow()
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			if b.get(t, "my", stack); stack.Status.ServiceURL == "" {
				t.Error("no service URL")
			}
		})
	}
}

// TestDenialOfAChange checks that a change that the API server rejects in part or completely leaves the running pods
// unchanged.
func TestDenialOfAChange(t *testing.T) {
	const running = `{distribution: {name: starter}, workload: {replicas: 1}}`
	for _, tc := range []struct {
		name, spec string
		deny       func(*testing.T, *bench) func()
		message    string
	}{
		{
			"a policy", `{distribution: {name: starter}, workload: {workers: 2}}`,
			func(t *testing.T, b *bench) func() {
				probe := &appsv1.Deployment{}
				b.get(t, "my", probe)
				probe = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: probe.Spec}
				return b.forbid(t, "apps", "deployments", "no changes before the holidays", probe)
			},
			`apply Deployment "my": deployments.apps "my" is forbidden: ValidatingAdmissionPolicy 'NS-deployments' with binding ` +
				`'NS-deployments' denied request: no changes before the holidays`,
		},
		{
			"a template that is none", `{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {dnsPolicy: Nowhere}}}}}`,
			func(*testing.T, *bench) func() { return func() {} },
			`apply Deployment "my": Deployment.apps "my" is invalid: spec.template.spec.dnsPolicy: Unsupported value: "Nowhere": ` +
				`supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`,
		},
		{
			"a full quota", `{distribution: {name: starter}, workload: {preflight: Never, workers: 2, storage: {size: 1Gi}}}`,
			func(t *testing.T, b *bench) func() { return b.fill(t, corev1.ResourcePersistentVolumeClaims) },
			`apply PersistentVolumeClaim "my-pvc": persistentvolumeclaims "my-pvc" is forbidden: exceeded quota: full, requested: ` +
				`persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.direct(t, "denied-change")
			b.create(t, b.stack(t, "my", running))
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			b.rollOut(t, "my")
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			b.settled(t, "denied-change")
			before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
			b.get(t, "my", before)

			allow := tc.deny(t, b)
			b.respec(t, "my", tc.spec)
			condition := b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed)
			if diff := cmp.Diff(strings.ReplaceAll(tc.message, "NS", b.namespace), condition.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonDeploymentUpdateFailed)
			if err := b.says(t, "my", available, v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with an earlier config"); err != nil {
				t.Error(err)
			}
			b.get(t, "my", after)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the Deployment changed:\n%s", diff)
			}
			allow()
			b.respec(t, "my", running)
			b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
			b.rollOut(t, "my")
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			if err := b.says(t, "my", available, v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with current config"); err != nil {
				t.Error(err)
			}
			b.get(t, "my", after)
			if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
				t.Errorf("the pods changed:\n%s", diff)
			}
		})
	}
}

// TestRefusalsAreIndependent checks that the objects that point at the pods do not wait for each other: if two children
// of a change are rejected, everything else takes effect.
func TestRefusalsAreIndependent(t *testing.T) {
	b := newBench(t)
	b.direct(t, "independent")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {expose: {hostname: independent.example.com}}, workload: {replicas: 2}}`))
	b.routeURL(t, "my", "http://independent.example.com")
	allowBudgets := b.forbid(t, "policy", "poddisruptionbudgets", "no budgets", &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "probe"}})
	allowServices := b.forbid(t, "", "services", "no services", &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	})
	b.respec(t, "my", `{distribution: {name: starter}, networking: {port: 9000, allowedFrom: {namespaces: [web]}}, `+
		`workload: {replicas: 2, workers: 2, podDisruptionBudget: {minAvailable: 1}, autoscaling: {maxReplicas: 3}}}`)
	want := strings.ReplaceAll(`apply Service "my-service": services "my-service" is forbidden: `+
		`ValidatingAdmissionPolicy 'NS-services' with binding 'NS-services' denied request: no services`+"\n"+
		`apply PodDisruptionBudget "my-pdb": poddisruptionbudgets.policy "my-pdb" is forbidden: `+
		`ValidatingAdmissionPolicy 'NS-poddisruptionbudgets' with binding 'NS-poddisruptionbudgets' denied request: no budgets`, "NS", b.namespace)
	eventually(t, func() error {
		return b.says(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed, want)
	})
	b.appears(t, "my-network-policy", &networkingv1.NetworkPolicy{})
	b.appears(t, "my-hpa", &autoscalingv2.HorizontalPodAutoscaler{})
	b.goes(t, "my-ingress", &networkingv1.Ingress{})
	b.routeURL(t, "my", "")
	if err := b.says(t, "my", available, v1alpha2.ReasonRolloutInProgress, "0/2 replicas available with current config"); err != nil {
		t.Error(err)
	}
	allowBudgets()
	allowServices()
	b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
}

// TestRefusedPolicy checks that the NetworkPolicy is applied before the server: if it is rejected, nothing of a new
// roll-out is applied.
func TestRefusedPolicy(t *testing.T) {
	b := newBench(t)
	allow := b.forbid(t, "networking.k8s.io", "networkpolicies", "no policies", &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "probe"}})
	b.direct(t, "policy")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {allowedFrom: {namespaces: [web]}}}`))
	condition := b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed)
	if !strings.Contains(condition.Message, "no policies") {
		t.Errorf("message %q", condition.Message)
	}
	if err := b.Get(t.Context(), b.key("my"), &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("there is a Deployment that everybody can connect to: %v", err)
	}
	allow()
	b.appears(t, "my", &appsv1.Deployment{})
	b.appears(t, "my-network-policy", &networkingv1.NetworkPolicy{})
}

// TestRefusedExposure checks that a rejected new way to expose a stack leaves the existing one in place.
func TestRefusedExposure(t *testing.T) {
	b := newBench(t)
	b.direct(t, "refused-exposure")
	const spec = `{distribution: {name: starter}, networking: {expose: {hostname: %s.example.com}}}`
	b.create(t, b.stack(t, "my", fmt.Sprintf(spec, b.namespace)))
	b.routeURL(t, "my", "http://"+b.namespace+".example.com")
	b.forbid(t, "networking.k8s.io", "ingresses", "ask first", &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "probe.example.com"}}},
	})
	b.respec(t, "my", fmt.Sprintf(spec, "other-"+b.namespace))
	condition := b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed)
	want := strings.ReplaceAll(`apply Ingress "my-ingress": ingresses.networking.k8s.io "my-ingress" is forbidden: `+
		`ValidatingAdmissionPolicy 'NS-ingresses' with binding 'NS-ingresses' denied request: ask first`, "NS", b.namespace)
	if condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	b.routeURL(t, "my", "http://"+b.namespace+".example.com")
	b.get(t, "my-ingress", &networkingv1.Ingress{})
}

// TestConfigMapOfARunningStack checks that a ConfigMap that is deleted while the stack runs changes nothing in the pods
// and is reported.
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
			configMap("mine", "config.yaml", "version: 2\n"), "",
		},
		{
			"base", `{distribution: {name: starter}, baseConfig: {configMapName: mine}, resources: {models: [m]}, ` +
				`providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`,
			`ConfigMap "mine" not found in namespace "NS". Referenced by: spec.baseConfig.configMapName`,
			configMap("mine", "config.yaml", "version: 2\napis: [inference]\nproviders: {}\n"),
			v1alpha2.ReasonBaseConfigStale,
		},
		{
			"certificates to trust", `{distribution: {name: starter}, networking: {tls: {caBundle: {configMapName: mine}}}}`,
			`ConfigMap "mine" not found in namespace "NS". Referenced by: spec.networking.tls.caBundle.configMapName`,
			configMap("mine", "ca-bundle.crt", string(certificate)), "",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			const version = "configmap-gone"
			b := newBench(t)
			b.create(t, tc.data.DeepCopy())
			b.direct(t, version)
			b.create(t, b.stack(t, "my", tc.spec))
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			b.rollOut(t, "my")
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			b.settled(t, version)
			before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
			b.get(t, "my", before)

			if err := b.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: objectMeta(b.namespace, "mine")}); err != nil {
				t.Fatal(err)
			}
			condition := b.condition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonConfigMapNotFound)
			if diff := cmp.Diff(inNamespace(tc.message, b.namespace), condition.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonConfigMapNotFound)
			b.condition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable)
			stack := &v1alpha2.LlamaStackDistribution{}
			b.get(t, "my", stack)
			degraded := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded)
			if got := degraded != nil; got != (tc.degraded != "") || got && degraded.Reason != tc.degraded {
				t.Errorf("degraded: %+v, want %q", degraded, tc.degraded)
			}
			b.create(t, tc.data.DeepCopy())
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			b.settled(t, version)
			b.get(t, "my", after)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the Deployment changed:\n%s", diff)
			}
		})
	}
}
