package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestInvalidHostname checks that an invalid host name is reported in one sentence, and that the running pods and the
// objects that expose them do not change.
func TestInvalidHostname(t *testing.T) {
	const version = "no-hostname"
	const spec = `{distribution: {name: starter}, networking: {expose: {hostname: %q}}}`
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, version)
	good := env.Namespace + ".example.com"
	env.Create(t, env.NewStack(t, "my", fmt.Sprintf(spec, good)))
	env.WaitForRouteURL(t, "my", "http://"+good)
	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	env.WaitUntilIdle(t, version)
	env.Get(t, "my", before)
	for _, tc := range []struct{ hostname, message string }{
		{"https://llama.example.com", `"https://llama.example.com" is not a host name: write a name such as llama.example.com, without a scheme, port or path`},
		{"llama_stack.example.com", `"llama_stack.example.com" is not a host name: write a name such as llama.example.com, without a scheme, port or path`},
		{"192.0.2.1", `"192.0.2.1" is an IP address: write a host name such as llama.example.com`},
	} {
		env.UpdateSpec(t, "my", fmt.Sprintf(spec, tc.hostname))
		env.WaitForCondition(t, "my", v1alpha2.ConditionStalled, v1alpha2.ReasonInvalidSpec)
		if err := env.CheckCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonInvalidSpec, "spec.networking.expose.hostname: "+tc.message); err != nil {
			t.Error(err)
		}
		env.WaitForRouteURL(t, "my", "http://"+good)
	}
	ingress := &networkingv1.Ingress{}
	env.Get(t, "my-ingress", ingress)
	env.Get(t, "my", after)
	if before.ResourceVersion != after.ResourceVersion || ingress.Spec.Rules[0].Host != good {
		t.Errorf("the Deployment or the Ingress was written: host %q", ingress.Spec.Rules[0].Host)
	}
}

// TestStoredNamesOfTheOperator checks that a stored stack whose volume replaces the operator's is still reconciled,
// that its pods keep the volume, and that a condition and an event report it.
func TestStoredNamesOfTheOperator(t *testing.T) {
	const version = "stored-names"
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, version)
	env.CreateReadyStack(t, `{distribution: {name: starter}, workload: {storage: {}, overrides: {volumes: [{name: lls-storage, emptyDir: {}}]}}}`)
	if err := env.CheckCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid,
		"The operator accepts the spec because it is stored, and would reject it in a new stack:\n"+
			`spec.workload.overrides.volumes[0].name: "lls-storage" is the name of the operator's volume that spec.workload.storage needs, which this volume replaces: use another name`); err != nil {
		t.Error(err)
	}
	if got := env.ListEventReasons(t); !strings.Contains(got, v1alpha2.EventConfigWarning) {
		t.Errorf("events %q, want them to include %s", got, v1alpha2.EventConfigWarning)
	}
	env.WaitUntilIdle(t, version)
	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	env.Get(t, "my", before)
	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Workload.Replicas = new(int32(2)) })
	controllertest.WaitUntil(t, func() error {
		if env.Get(t, "my", after); *after.Spec.Replicas != 2 {
			return fmt.Errorf("%d replicas", *after.Spec.Replicas)
		}
		return nil
	})
	if volume := after.Spec.Template.Spec.Volumes; !slices.ContainsFunc(volume, func(v corev1.Volume) bool {
		return v.Name == names.DataVolume && v.EmptyDir != nil
	}) {
		t.Errorf("volumes %v", volume)
	}
	if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" {
		t.Errorf("the pods changed:\n%s", diff)
	}
}
