package controller_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestBounds checks that a stack that exceeds the administrator's bounds keeps its pods, that its status reports the
// bound, and that the spec is valid again when it no longer exceeds the bounds.
func TestBounds(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartReconciler(t, "bounds")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {hostNetwork: true}}}}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	before := env.GetDeployment(t)

	image := controllertest.StarterImage(t)
	for rule, message := range map[string]string{
		"[{podTemplate: false}]":     "spec.workload.overrides.podTemplate: is not allowed in this namespace: remove this field, or ask an administrator",
		"[{podSecurity: baseline}]":  `spec.workload.overrides: the pods in this namespace must meet the Pod Security Standard "baseline": host namespaces (hostNetwork=true)`,
		"[{images: [quay.io/team]}]": `spec.distribution: the image "` + image + `" is not from a source that is allowed in this namespace: use an image from quay.io/team`,
		"[{stacks: 0}]":              "can have at most 0 stacks, and this stack exceeds the limit",
	} {
		env.SetOperatorConfig(t, operatorconfig.KeyBounds, "")
		env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid)
		env.SetOperatorConfig(t, operatorconfig.KeyBounds, rule)
		got := env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonForbiddenByBounds)
		if !strings.Contains(got.Message, message) {
			t.Errorf("%s: message %q, want %q", rule, got.Message, message)
		}
	}
	env.SetOperatorConfig(t, operatorconfig.KeyBounds, "")
	env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid)
	after := env.GetDeployment(t)
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("the bounds changed the Deployment (-before +after):\n%s", diff)
	}
}

// TestBoundsOfNamedAccounts checks that the bound for ServiceAccounts holds for an existing account with the name of
// the account that the operator would create for the stack.
func TestBoundsOfNamedAccounts(t *testing.T) {
	for name, overrides := range map[string]string{
		"named":           "{serviceAccountName: prod-sa}",
		"named and patch": "{serviceAccountName: llama, podTemplate: {spec: {serviceAccountName: prod-sa}}}",
		"default account": `{serviceAccountName: llama, podTemplate: {spec: {serviceAccountName: ""}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			env := controllertest.NewEnvironment(t)
			env.OwnOperatorConfig = true
			env.StartReconciler(t, env.Namespace)
			env.SetOperatorConfig(t, operatorconfig.KeyBounds, "[{serviceAccounts: [llama]}]")
			env.Create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "prod-sa"}},
				env.NewStack(t, "prod", "{distribution: {name: starter}, workload: {overrides: "+overrides+"}}"))
			env.WaitForCondition(t, "prod", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonForbiddenByBounds)
		})
	}
}

// TestRunningNumberOfStacks checks that a stack beyond the maximum number of stacks is deployed when an older stack is
// deleted.
func TestRunningNumberOfStacks(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartOperator(t, "stacks")
	env.SetOperatorConfig(t, operatorconfig.KeyBounds, "[{namespaces: ["+env.Namespace+"], stacks: 1}]")
	env.Create(t, env.NewStack(t, "a-first", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "a-first", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	env.Create(t, env.NewStack(t, "b-second", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "b-second", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonForbiddenByBounds)
	if err := env.Client.Get(t.Context(), env.Key("b-second"), &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("the stack beyond the bound has a Deployment: %v", err)
	}
	first := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, "a-first", first)
	if err := client.IgnoreNotFound(env.Client.Delete(t.Context(), first)); err != nil {
		t.Fatal(err)
	}
	env.WaitForCondition(t, "b-second", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
}

// TestBoundsOfOlderStacks checks that the bound for Pod Security holds for a stack with the annotation of v1alpha1
// stacks, whose pods do not meet the standard "restricted". The annotation must not be a way around the bound.
func TestBoundsOfOlderStacks(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartReconciler(t, env.Namespace)
	env.SetOperatorConfig(t, operatorconfig.KeyBounds, "[{podSecurity: restricted}]")
	older := env.NewStack(t, "older", `{distribution: {name: starter}}`)
	older.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	env.Create(t, older, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	env.WaitForCondition(t, "older", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonForbiddenByBounds)
	if err := env.Client.Get(t.Context(), env.Key("older"), &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("the stack beyond the bound has a Deployment: %v", err)
	}
}
