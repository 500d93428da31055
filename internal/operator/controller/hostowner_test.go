package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// exposedAs returns the spec of a stack that is exposed with these settings.
func exposedAs(expose string) string {
	return `{distribution: {name: starter}, networking: {expose: ` + expose + `}}`
}

// hostsIn returns the host names of the Ingresses in the namespace, by the name of the Ingress.
func hostsIn(t *testing.T, env *controllertest.Environment) map[string]string {
	t.Helper()
	var list networkingv1.IngressList
	testutil.Must(t, env.Client.List(t.Context(), &list, client.InNamespace(env.Namespace)))
	hosts := map[string]string{}
	for i := range list.Items {
		hosts[list.Items[i].Name] = list.Items[i].Spec.Rules[0].Host
	}
	return hosts
}

// TestHostnameIsKept checks that an exposed stack keeps its host name, whatever happens to its spec, although another
// stack waits for the host name. The other stack was created first, so that it precedes a stack that only requests the
// host name.
func TestHostnameIsKept(t *testing.T) {
	const host = "app.example.com"
	mine := exposedAs("{hostname: " + host + "}")
	for name, tc := range map[string]struct {
		spec, reason string
		change       func(*testing.T, *controllertest.Environment)
	}{
		"a typo": {mine, v1alpha2.ReasonInvalidSpec, func(t *testing.T, env *controllertest.Environment) {
			env.UpdateSpec(t, "victim", exposedAs("{hostname: "+host+", annotatons: {a: b}}"))
		}},
		"a deletion that waits": {mine, "", func(t *testing.T, env *controllertest.Environment) {
			env.UpdateStack(t, "victim", func(s *v1alpha2.LlamaStackDistribution) { s.Finalizers = []string{"a.example/b"} })
			env.Delete(t, env.NewStack(t, "victim", mine))
			t.Cleanup(func() {
				end := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))
				if err := env.Client.Patch(context.WithoutCancel(t.Context()), env.NewStack(t, "victim", "{}"), end); err != nil {
					t.Error(err)
				}
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			env := controllertest.NewEnvironment(t)
			env.StartReconciler(t, env.Namespace)
			env.Create(t, env.NewStack(t, "attacker", exposedAs("{hostname: other.example.com}")))
			env.WaitForRouteURL(t, "attacker", "http://other.example.com")
			env.Create(t, env.NewStack(t, "victim", tc.spec))
			env.WaitForRouteURL(t, "victim", "http://"+host)
			env.UpdateSpec(t, "attacker", mine)
			env.WaitForCondition(t, "attacker", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
			check := func(when string) {
				t.Helper()
				for range 3 {
					controllertest.Reconcile(t)
				}
				if got := fmt.Sprint(hostsIn(t, env)); got != "map[victim-ingress:"+host+"]" {
					t.Errorf("%s: hosts %s", when, got)
				}
			}
			tc.change(t, env)
			if tc.reason != "" {
				env.WaitForCondition(t, "victim", v1alpha2.ConditionValidationSucceeded, tc.reason)
			}
			check("after the change")
			if tc.reason != "" {
				env.UpdateSpec(t, "victim", mine)
				check("after the mend")
			}
		})
	}
}

// TestRunningHostnameOfALargeSpec checks that an exposed stack keeps its host name while its spec is too large for the
// cache of the operator, although a stack of another tenant waits for the host name.
func TestRunningHostnameOfALargeSpec(t *testing.T) {
	env, other := controllertest.NewEnvironment(t), controllertest.NewEnvironment(t)
	env.AllNamespaces = true
	env.StartOperator(t, env.Namespace)
	host := "app." + env.Namespace + ".example.com"
	mine := exposedAs("{hostname: " + host + "}")
	other.Create(t, other.NewStack(t, "attacker", exposedAs("{hostname: other."+host+"}")))
	other.WaitForRouteURL(t, "attacker", "http://other."+host)
	env.Create(t, env.NewStack(t, "victim", mine))
	env.WaitForRouteURL(t, "victim", "http://"+host)
	other.UpdateSpec(t, "attacker", mine)
	other.WaitForCondition(t, "attacker", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	env.UpdateSpec(t, "victim", strings.TrimSuffix(mine, "}")+
		", providers: {inference: {provider: vllm, settings: {x: "+strings.Repeat("x", 300<<10)+"}}}}")
	env.WaitForCondition(t, "victim", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonInvalidSpec)
	env.WaitUntilIdle(t, env.Namespace)
	env.UpdateSpec(t, "victim", mine)
	env.WaitForCondition(t, "victim", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid)
	env.WaitUntilIdle(t, env.Namespace)
	other.WaitForCondition(t, "attacker", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	if got := fmt.Sprint(hostsIn(t, env), hostsIn(t, other)); got != "map[victim-ingress:"+host+"] map[]" {
		t.Errorf("hosts %s", got)
	}
}

// TestHostnameAfterAChangeOfTheDomain checks that the host name that a stack still uses belongs to it after a change of
// the domain, and that the name that is generated in the new domain cannot be taken in advance.
func TestHostnameAfterAChangeOfTheDomain(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartReconciler(t, env.Namespace)
	env.SetOperatorConfig(t, operatorconfig.KeyIngress, "{domain: one.example.com}")
	now, next := generatedHost(env, "victim", "one.example.com"), generatedHost(env, "victim", "two.example.com")
	env.Create(t, env.NewStack(t, "a", exposedAs("{hostname: "+now+"}")))
	env.Create(t, env.NewStack(t, "b", exposedAs("{hostname: "+next+"}")))
	env.WaitForRouteURL(t, "b", "http://"+next) // not a generated name of this domain
	env.Create(t, env.NewStack(t, "victim", exposedAs("true")))
	env.WaitForRouteURL(t, "victim", "http://"+now)
	env.PatchStack(t, "victim", func(s *v1alpha2.LlamaStackDistribution) {
		s.Annotations = map[string]string{names.AnnotationPaused: "true"}
	})
	env.WaitForCondition(t, "victim", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentPaused)
	env.SetOperatorConfig(t, operatorconfig.KeyIngress, "{domain: two.example.com}")
	env.WaitForCondition(t, "b", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	if got := fmt.Sprint(hostsIn(t, env)); got != "map[victim-ingress:"+now+"]" {
		t.Errorf("hosts %s while the stack cannot move", got)
	}
	env.PatchStack(t, "victim", func(s *v1alpha2.LlamaStackDistribution) { s.Annotations = nil })
	env.WaitForRouteURL(t, "victim", "http://"+next)
	env.WaitForRouteURL(t, "a", "http://"+now) // free, and no longer a generated name
}

// TestGeneratedHostnameIsReserved checks that no stack can take a host name that the operator generates for another
// stack, before that stack exists, while it exists and after it was deleted.
func TestGeneratedHostnameIsReserved(t *testing.T) {
	for _, domain := range []string{names.DefaultDomain, "apps.example.com"} {
		env := controllertest.NewEnvironment(t)
		env.OwnOperatorConfig = true
		r := env.StartReconciler(t, env.Namespace)
		if domain == names.DefaultDomain {
			env.SetOperatorConfig(t, operatorconfig.KeyIngress, "")
		} else {
			env.SetOperatorConfig(t, operatorconfig.KeyIngress, "{domain: "+domain+"}")
		}
		long := strings.Repeat("a-", 20) + "b" // the label of this stack is truncated
		for i, name := range []string{"chat", long} {
			host, squat := generatedHost(env, name, domain), fmt.Sprint("squat-", i)
			refused := func() {
				t.Helper()
				condition := env.WaitForCondition(t, squat, v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
				if want := fmt.Sprintf("spec.networking.expose: the operator generates the host name %q for another stack, so the server is not exposed; use another host name", host); condition.Message != want {
					t.Errorf("message %q, want %q", condition.Message, want)
				}
			}
			env.Create(t, env.NewStack(t, squat, exposedAs("{hostname: "+host+"}")))
			refused()
			victim := env.NewStack(t, name, exposedAs("true"))
			env.Create(t, victim)
			env.WaitForRouteURL(t, name, "http://"+host)
			env.UpdateSpec(t, name, exposedAs("{hostname: "+host+"}")) // a stack may write its own name
			env.WaitForCondition(t, name, v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
			env.Delete(t, victim)
			refused()
		}
		r.Stop(t)
	}
}

// TestOlderStacksHaveSeparateHosts checks that stacks with the annotation of v1alpha1 stacks do not generate the host
// name of another stack, and that only one of them has no host name.
func TestOlderStacksHaveSeparateHosts(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartReconciler(t, env.Namespace)
	older := func(name string) *v1alpha2.LlamaStackDistribution {
		stack := env.NewStack(t, name, `{distribution: {name: starter}, networking: {port: 8321, expose: true}}`)
		stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
		return stack
	}
	env.Create(t, older("first"))
	env.WaitForCondition(t, "first", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
	env.Create(t, older("a"))
	condition := env.WaitForCondition(t, "a", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	if want := `spec.network.exposeRoute: without a host name, the server would receive the requests for every host, which stack "first" receives, so the server is not exposed; use a host name`; condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	if got := fmt.Sprint(hostsIn(t, env)); got != "map[first-ingress:]" {
		t.Errorf("hosts %s", got)
	}
	// The Ingress of an earlier operator stays.
	adopted := older("adopted")
	adopted.Annotations[names.AnnotationPaused] = "true"
	env.Create(t, adopted)
	ingress := &networkingv1.Ingress{}
	env.Get(t, "first-ingress", ingress)
	ingress.ObjectMeta = metav1.ObjectMeta{
		Name: "adopted-ingress", Namespace: env.Namespace, Labels: names.Labels("adopted"),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(adopted, v1alpha2.GroupVersionKind)},
	}
	env.Create(t, ingress)
	env.PatchStack(t, "adopted", func(stack *v1alpha2.LlamaStackDistribution) {
		delete(stack.Annotations, names.AnnotationPaused)
	})
	env.WaitForCondition(t, "adopted", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
	env.SetOperatorConfig(t, operatorconfig.KeyIngress, "{domain: apps.example.com}")
	for _, name := range []string{"first", "a"} {
		env.WaitForRouteURL(t, name, "http://"+generatedHost(env, name, "apps.example.com"))
	}
}

// TestNoIngressForEveryHost checks that the bound for domains holds for a stack with the annotation of v1alpha1 stacks.
// The stack gets a host name, also if it was exposed without one before the administrator set the bound.
func TestNoIngressForEveryHost(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartReconciler(t, env.Namespace)
	stack := env.NewStack(t, "all", `{distribution: {name: starter}, networking: {port: 8321, expose: true}}`)
	stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	env.Create(t, stack)
	env.WaitForCondition(t, "all", v1alpha2.ConditionExposed, v1alpha2.ReasonExposureApplied)
	env.SetOperatorConfig(t, operatorconfig.KeyBounds, "[{domains: [t.example.com]}]")
	env.WaitForRouteURL(t, "all", "http://"+generatedHost(env, "all", names.DefaultDomain))
	if got := fmt.Sprint(hostsIn(t, env)); got != "map[all-ingress:"+generatedHost(env, "all", names.DefaultDomain)+"]" {
		t.Errorf("hosts %s", got)
	}
}

// TestForgedIngress checks that an Ingress that a tenant creates in the name of an older stack does not take the host
// name of an exposed stack.
func TestForgedIngress(t *testing.T) {
	const host = "app.example.com"
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, env.Namespace)
	attacker := env.NewStack(t, "attacker", exposedAs("{hostname: other.example.com}"))
	env.Create(t, attacker)
	env.WaitForRouteURL(t, "attacker", "http://other.example.com")
	env.Create(t, env.NewStack(t, "victim", exposedAs("{hostname: "+host+"}")))
	env.WaitForRouteURL(t, "victim", "http://"+host)
	env.UpdateSpec(t, "attacker", exposedAs("{hostname: "+host+"}"))
	env.WaitForCondition(t, "attacker", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	forged := &networkingv1.Ingress{}
	env.Get(t, "victim-ingress", forged)
	forged.ObjectMeta = metav1.ObjectMeta{
		Name: "attacker-ingress", Namespace: env.Namespace, Labels: names.Labels("attacker"),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(attacker, v1alpha2.GroupVersionKind)},
	}
	env.Create(t, forged)
	controllertest.WaitUntil(t, func() error {
		if got := fmt.Sprint(hostsIn(t, env)); got != "map[victim-ingress:"+host+"]" {
			return fmt.Errorf("hosts %s", got)
		}
		return nil
	})
	env.WaitForRouteURL(t, "victim", "http://"+host)
}

// TestRunningHostnameOutsideBounds checks that a stack that the bounds forbid does not keep its host name from a stack
// of another tenant, although it was created first.
func TestRunningHostnameOutsideBounds(t *testing.T) {
	env, other := controllertest.NewEnvironment(t), controllertest.NewEnvironment(t)
	env.AllNamespaces, env.OwnOperatorConfig = true, true
	env.StartOperator(t, env.Namespace)
	env.SetOperatorConfig(t, operatorconfig.KeyBounds, "[{namespaces: ["+other.Namespace+"], domains: [a.example.com]}]")
	mine := exposedAs("{hostname: app." + env.Namespace + ".example.com}")
	other.Create(t, other.NewStack(t, "attacker", exposedAs("{hostname: a.example.com}")))
	other.WaitForRouteURL(t, "attacker", "http://a.example.com")
	env.Create(t, env.NewStack(t, "victim", exposedAs("{hostname: a.example.com}")))
	env.WaitForCondition(t, "victim", v1alpha2.ConditionExposed, v1alpha2.ReasonHostnameTaken)
	other.UpdateSpec(t, "attacker", mine)
	other.WaitForCondition(t, "attacker", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonForbiddenByBounds)
	env.UpdateSpec(t, "victim", mine)
	env.WaitForRouteURL(t, "victim", "http://app."+env.Namespace+".example.com")
}
