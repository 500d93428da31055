package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestPlanOfAStack(t *testing.T) {
	const (
		based  = `{distribution: {name: starter}, baseConfig: {configMapName: mine, key: base.yaml}, resources: `
		warned = `{distribution: {name: starter}, baseConfig: {configMapName: mine, key: base.yaml}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000", settings: {max_tokns: 1, x: 1}}}, resources: {shields: [guard]}, disabled: [safety]}`
		mine   = `{distribution: {name: starter}, overrideConfig: {configMapName: mine}`
		used   = "True " + v1alpha2.ReasonOverrideConfigUsed + ": "
	)
	given := planObjects(t)
	for name, tc := range map[string]planCase{
		"image's own configuration": {spec: `{distribution: {name: starter}}`, condition: "True DistributionDefaultUsed: The server uses the image's own configuration unchanged"},
		"generated configuration":   {spec: based + "{models: [m]}}", condition: "True ConfigGenerationSucceeded: Generated config.yaml with 2 providers and 1 model"},
		"generated configuration with a shield": {
			spec:      based + "{models: [m], shields: [guard]}}",
			condition: "True ConfigGenerationSucceeded: Generated config.yaml with 2 providers and 2 resources",
		},
		"override":                                {spec: mine + "}", condition: used + `The server uses ConfigMap "mine" unchanged`},
		"override with workers":                   {spec: mine + ", workload: {workers: 2}}", condition: used + `The server uses a copy of ConfigMap "mine", in which the operator sets the number of workers`},
		"override with a certificate":             {spec: mine + ", networking: {tls: {enabled: true, secretName: cert}}}", condition: used + `The server uses a copy of ConfigMap "mine", in which the operator sets the certificate`},
		"override with workers and a certificate": {spec: mine + ", workload: {workers: 2}, networking: {tls: {enabled: true, secretName: cert}}}", condition: used + `The server uses a copy of ConfigMap "mine", in which the operator sets the number of workers and the certificate`},
		"override with all settings": {
			spec:      mine + `, workload: {workers: 2}, networking: {tls: {enabled: true, secretName: cert}}, externalProviders: {eval: [{providerId: a, image: b}]}}`,
			condition: used + `The server uses a copy of ConfigMap "mine", in which the operator sets the number of workers, the certificate and the external providers`,
		},
		"external provider that replaces a provider of the configuration": {
			spec: based + "{}, externalProviders: {inference: [{providerId: vllm, image: b}]}}", fresh: true,
			condition: "True ConfigGenerationSucceeded: Generated config.yaml with 2 providers and 0 models",
			events: []string{"Warning " + v1alpha2.EventExternalProviderOverride + `: spec.externalProviders.inference[0].providerId: ` +
				`the external provider "vllm" replaces the configuration's own provider of type remote::vllm; to keep both providers, give the external provider another ID`},
		},
		"external provider that replaces a provider in the spec": {
			spec: based + `{}, providers: {inference: {id: mine, provider: vllm, endpoint: "http://vllm:8000"}}, externalProviders: {inference: [{providerId: mine, image: b}]}}`, fresh: true,
			condition: "True ConfigGenerationSucceeded: Generated config.yaml with 3 providers and 0 models",
			events: []string{"Warning " + v1alpha2.EventExternalProviderOverride + `: spec.externalProviders.inference[0].providerId: ` +
				`the external provider "mine" replaces spec.providers.inference; to keep both providers, give the external provider another ID`},
		},
		"warnings about a new generation": {spec: warned, fresh: true, condition: "True ConfigGenerationSucceeded: Generated config.yaml with 1 provider and 0 resources", events: []string{
			"Warning " + v1alpha2.EventProviderIgnored + ": spec.resources.shields[0]: the API safety is disabled by spec.disabled[0], so this entry is ignored; remove one of the two entries",
			"Warning " + v1alpha2.EventConfigWarning + `: 2 warnings, which are in status.warnings; the first is: spec.providers.inference.settings.max_tokns: unknown key; the server ignores it; did you mean "max_tokens"?`,
		}},
		"warnings about an observed generation": {spec: warned, condition: "True ConfigGenerationSucceeded: Generated config.yaml with 1 provider and 0 resources"},
		"resource without its provider": {
			spec: based + "{models: [{name: m, provider: nobody}]}}",
			failure: &status.Failure{
				Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonMissingProviderForResource,
				Retry:   status.OnReferenceChange,
				Message: `spec.resources.models[0].provider: "nobody" is not a configured inference provider; available: vllm`,
			},
		},
		"provider that the release does not have": {
			spec: `{distribution: {name: starter}, providers: {inference: {provider: vlm}}}`,
			failure: &status.Failure{
				Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonConfigGenerationFailed,
				Retry:   status.OnObjectChange,
				Message: `spec.providers.inference.provider: "vlm" is not a type of inference provider in release 0.7; did you mean "vllm"?`,
			},
		},
		"invalid connection string": {
			spec: `{distribution: {name: starter}, storage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: creds, key: url}}}}}`,
			failure: &status.Failure{
				Condition: v1alpha2.ConditionSecretsResolved, Reason: v1alpha2.ReasonSecretValueUnusable,
				Retry: status.OnReferenceChange,
				Message: `Key "url" of Secret "creds" in namespace "team" cannot be used: the value is not a PostgreSQL connection string; ` +
					"write postgresql://user:password@host:port/database. Referenced by: spec.storage.kv.connectionString.secretKeyRef",
			},
		},
	} {
		t.Run(name, func(t *testing.T) { checkPlan(t, tc, given) })
	}
}

// planObjects returns the ConfigMap and the Secrets that the stacks of TestPlanOfAStack refer to.
func planObjects(t *testing.T) []client.Object {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, time.Now().AddDate(1, 0, 0))
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "team", Name: name} }
	return []client.Object{
		&corev1.ConfigMap{ObjectMeta: meta("mine"), Data: map[string]string{
			names.ConfigFile: "version: 2\nimage_name: mine\nproviders: {}\n",
			"base.yaml":      "version: 2\napis: [inference, safety]\nproviders: {inference: [{provider_id: vllm, provider_type: remote::vllm, config: {base_url: http://vllm:8000/v1}}], safety: [{provider_id: llama-guard, provider_type: inline::llama-guard, config: {}}]}\n",
		}},
		&corev1.Secret{ObjectMeta: meta("creds"), Data: map[string][]byte{
			"password": []byte("one"),
			"url":      []byte("nonsense"),
		}},
		&corev1.Secret{ObjectMeta: meta("cert"), Type: corev1.SecretTypeTLS, Data: map[string][]byte{
			corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key,
		}},
	}
}

// planCase is a row of TestPlanOfAStack.
type planCase struct {
	spec      string
	fresh     bool
	condition string
	events    []string
	failure   *status.Failure
}

// checkPlan runs the steps up to the plan of a stack in a cluster with the given objects.
func checkPlan(t *testing.T, tc planCase, given []client.Object) {
	own := testutil.NewStack(t, tc.spec)
	if !tc.fresh {
		own.Status.ObservedGeneration = own.Generation
	}
	f := newFixture(t, append(given, testutil.NewOperatorConfigMap(operatorconfig.KeyRegistries, "readLabels: false"))...)
	s, err := f.runSteps(t, own, "plan")
	checkFailure(t, err, tc.failure)
	if diff := cmp.Diff(tc.condition, conditionTexts(&s.report)[v1alpha2.ConditionConfigGenerated]); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(tc.events, eventTexts(&s.report)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if err == nil && (s.planned.Plan == nil || s.planned.Input.OperatorVersion != "v1.2.3") {
		t.Errorf("plan %v with operator version %q", s.planned.Plan, s.planned.Input.OperatorVersion)
	}
}

// TestForbiddenPods checks that pods beyond the administrator's bounds are not applied. The bound for ServiceAccounts
// also holds for an account with the name that the operator would use, because any user can have created it. The
// annotation of v1alpha1 stacks, whose pods do not meet the standard "restricted", is not a way around the bounds.
func TestForbiddenPods(t *testing.T) {
	const accounts = "[{serviceAccounts: [llama]}]"
	for name, tc := range map[string]struct{ bounds, overrides, compat, field string }{
		"host network":                         {"[{podSecurity: baseline}]", `{podTemplate: {spec: {hostNetwork: true}}}`, "", ""},
		"account of the operator's name":       {accounts, `{serviceAccountName: my-sa}`, "", ".serviceAccountName"},
		"account in the pod template":          {accounts, `{serviceAccountName: llama, podTemplate: {spec: {serviceAccountName: my-sa}}}`, "", ".serviceAccountName"},
		"default account":                      {accounts, `{serviceAccountName: llama, podTemplate: {spec: {serviceAccountName: ""}}}`, "", ".serviceAccountName"},
		"pods of v1alpha1 that need more root": {"[{podSecurity: restricted}]", `{}`, names.CompatV1Alpha1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			own := testutil.NewStack(t, `{distribution: {name: starter}, workload: {overrides: `+tc.overrides+`}}`)
			own.Annotations = map[string]string{names.AnnotationCompat: tc.compat}
			f := newFixture(t, testutil.NewOperatorConfigMap(operatorconfig.KeyBounds, tc.bounds))
			_, err := f.runSteps(t, own, "plan")
			if failure := classify(err, ""); failure.Reason != v1alpha2.ReasonForbiddenByBounds ||
				!strings.HasPrefix(failure.Message, "spec.workload.overrides"+tc.field+": ") {
				t.Errorf("%s: %s", failure.Reason, failure.Message)
			}
		})
	}
}

// TestOneConfigurationPerPass checks that a pass configures the server once: for a new stack with connection parts, for
// changed parts, for pods without a record of the places of their data, and if a ConfigMap's name is taken.
func TestOneConfigurationPerPass(t *testing.T) {
	const spec = `{distribution: {name: starter}, disabled: [eval], storage: {kv: {type: redis, endpoint: "redis:6379", ` +
		`password: {secretKeyRef: {name: redis-creds, key: password}}}}, workload: {preflight: Never}}`
	password := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "redis-creds"},
		Data:       map[string][]byte{"password": []byte("one")},
	}
	f := newFixture(t, password)
	passes := 0
	f.planner.Configure = func(in plan.Input) (*plan.Configuration, error) {
		passes++
		return plan.Configure(in)
	}
	pass := func(name, spec, last string) (*state, error) {
		t.Helper()
		passes = 0
		own := testutil.NewStack(t, spec)
		own.Generation = int64(len(spec))
		s, err := f.runSteps(t, own, last)
		if passes != 1 {
			t.Errorf("%s: the server was configured %d times", name, passes)
		}
		return s, err
	}
	apply := func(name, spec string) (secret string) {
		t.Helper()
		s, err := pass(name, spec, "apply")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return s.planned.Plan.Rendered.Record.StorageSecret.Name
	}
	first := apply("a new stack", spec)
	if again := apply("no change", spec); again != first || !strings.HasPrefix(first, "my-storage-") {
		t.Errorf("unchanged parts are in Secret %q, then in %q", first, again)
	}
	password.Data["password"] = []byte("two")
	testutil.Must(t, f.Update(t.Context(), password))
	if second := apply("changed parts", spec); second == first {
		t.Errorf("changed parts are in the same Secret %q", first)
	}
	f.replacePlaces(t, "")
	changed := strings.Replace(spec, "[eval]", "[eval, scoring]", 1)
	apply("no record of the places", changed)

	s, err := pass("before the name is taken", strings.Replace(spec, "[eval]", "[eval, scoring, tool_runtime]", 1), "plan")
	testutil.Must(t, err)
	taken := s.planned.Plan.ConfigMapName
	f.createObjects(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: taken}})
	_, err = pass("the name is taken", strings.Replace(spec, "[eval]", "[eval, scoring, tool_runtime]", 1), "ownership")
	checkFailure(t, err, &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonOwnershipConflict, Retry: status.Later,
		Message: fmt.Sprintf("ConfigMap %q in namespace \"team\" exists and has neither a controller nor the labels of the stack; "+
			"delete this ConfigMap, or create the stack with another name", taken),
	})
}

// TestPlanKeepsTheGroupOfATakenOverStack checks that, on OpenShift, the pods of a stack that was taken over keep their
// fsGroup, and that pods of a new stack have no fsGroup.
func TestPlanKeepsTheGroupOfATakenOverStack(t *testing.T) {
	own := testutil.NewStack(t, `{distribution: {name: starter}, workload: {storage: {}}}`)
	own.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	live := &appsv1.Deployment{ObjectMeta: testutil.ChildMeta(own, "my")}
	live.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(1001))}
	for name, objects := range map[string][]client.Object{"new": nil, "taken over": {live}} {
		f := newFixtureOn(t, true, nil, objects...)
		s, err := f.runSteps(t, own, "plan")
		testutil.Must(t, err)
		security := s.planned.Plan.Rendered.Deployment.Spec.Template.Spec.SecurityContext
		if kept := security != nil && security.FSGroup != nil; kept != (objects != nil) {
			t.Errorf("%s: the pods have an fsGroup: %t", name, kept)
		}
	}
}
