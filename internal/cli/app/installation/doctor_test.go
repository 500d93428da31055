package installation_test

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/config"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/installation"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var now = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// issued contains a certificate, which is its own authority.
type issued struct {
	bundle      []byte
	certificate *x509.Certificate
}

func issue(t *testing.T, until time.Time, host string) issued {
	t.Helper()
	text, _ := testutil.NewCertificate(t, until, host)
	block, _ := pem.Decode(text)
	certificate, err := x509.ParseCertificate(block.Bytes)
	testutil.Must(t, err)
	return issued{text, certificate}
}

const host = names.WebhookService + ".operator.svc"

func role(t *testing.T, data []byte) []rbacv1.PolicyRule {
	t.Helper()
	var found rbacv1.ClusterRole
	testutil.Must(t, yaml.Unmarshal(data, &found))
	return found.Rules
}

// healthy returns the facts about an installation without problems.
func healthy(t *testing.T) *installation.Facts {
	t.Helper()
	made := issue(t, now.Add(365*24*time.Hour), host)
	f := &installation.Facts{Now: now, Command: "1.2.3", Namespace: "operator"}
	f.Server.Value = "v1.37.0"
	f.Definition.Value = &apiextensionsv1.CustomResourceDefinition{
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1alpha1", Served: true},
				{Name: "v1alpha2", Served: true, Storage: true},
			},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: made.bundle},
				},
			},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			StoredVersions: []string{"v1alpha2"},
			Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{{
				Type:   apiextensionsv1.Established,
				Status: "True",
			}},
		},
	}
	f.Operators.Value = []appsv1.Deployment{operator("operator")}
	f.Webhook.Value = &admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{
		{Name: "validate", ClientConfig: admissionv1.WebhookClientConfig{CABundle: made.bundle}},
	}}
	f.Certificate.Value = made.certificate
	f.Policy.Value = &admissionv1.ValidatingAdmissionPolicy{}
	f.Binding.Value = &admissionv1.ValidatingAdmissionPolicyBinding{
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{ValidationActions: []admissionv1.ValidationAction{"Deny"}},
	}
	f.Rules.Value = map[string][]rbacv1.PolicyRule{"": role(t, config.Role)}
	f.Config.Value = &corev1.ConfigMap{}
	for _, right := range installation.Needed("team-a") {
		right.Allowed = true
		f.Rights.Value = append(f.Rights.Value, right)
	}
	f.Stacks.Value = []v1alpha2.LlamaStackDistribution{stack("my", "True", "Ready", "")}
	return f
}

func operator(namespace string) appsv1.Deployment {
	replicas := int32(2)
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "manager"},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "registry:5000/operator:v1.2.3@sha256:0"}}},
		}},
		Status: appsv1.DeploymentStatus{ReadyReplicas: 2},
	}
}

func stack(name, ready, reason, message string) v1alpha2.LlamaStackDistribution {
	return v1alpha2.LlamaStackDistribution{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name},
		Status: v1alpha2.LlamaStackDistributionStatus{Conditions: []metav1.Condition{
			{Type: "Ready", Status: metav1.ConditionStatus(ready), Reason: reason, Message: message},
		}},
	}
}

func TestHealthy(t *testing.T) {
	findings := installation.Examine(healthy(t))
	checks := map[string]bool{}
	for _, finding := range findings {
		checks[finding.Check] = true
		if finding.Status != installation.OK || finding.Remedy != "" {
			t.Errorf("%+v", finding)
		}
	}
	if len(checks) != 11 || installation.Failed(findings) {
		t.Errorf("%d checks: %v", len(checks), checks)
	}
}

// TestOneReplica checks that the finding about an operator with one pod uses the singular noun.
func TestOneReplica(t *testing.T) {
	facts := healthy(t)
	*facts.Operators.Value[0].Spec.Replicas, facts.Operators.Value[0].Status.ReadyReplicas = 1, 1
	want := "Deployment operator/manager has 1 ready pod"
	if !slices.ContainsFunc(installation.Examine(facts), func(f installation.Finding) bool { return f.Message == want }) {
		t.Errorf("no finding %q in %+v", want, installation.Examine(facts))
	}
}

// problems returns the findings that are not ok, one per line.
func problems(f *installation.Facts) string {
	var lines []string
	for _, finding := range installation.Examine(f) {
		if finding.Status != installation.OK {
			lines = append(lines, string(finding.Status)+" "+finding.Check+": "+finding.Message)
		}
	}
	return strings.Join(lines, "\n")
}

type change struct {
	change func(*installation.Facts)
	want   string
}

func check(t *testing.T, cases map[string]change) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			facts := healthy(t)
			tc.change(facts)
			if diff := cmp.Diff(tc.want, problems(facts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestClusterProblems(t *testing.T) {
	check(t, map[string]change{
		"old Kubernetes":                 {func(f *installation.Facts) { f.Server.Value = "v1.29.4+k3s1" }, "error api-server: Kubernetes v1.29.4+k3s1 is older than 1.30"},
		"new Kubernetes":                 {func(f *installation.Facts) { f.Server.Value = "v1.38.0" }, "warning api-server: Kubernetes v1.38.0 is newer than 1.37, the newest version that the operator is tested on"},
		"patch of the newest Kubernetes": {func(f *installation.Facts) { f.Server.Value = "v1.37.9-eks-1" }, ""},
		"unknown version of Kubernetes":  {func(f *installation.Facts) { f.Server.Value = "x" }, `warning api-server: cannot read the version of the API server: "x" is not a version`},
		"no definition": {
			func(f *installation.Facts) { f.Definition.Value = nil; f.Webhook.Value = nil },
			`error definition: CustomResourceDefinition "llamastackdistributions.llamastack.io" does not exist`,
		},
		"definition of the previous operator": {
			func(f *installation.Facts) {
				f.Definition.Value.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name:   "v1alpha1",
					Served: true, Storage: true,
				}}
				f.Definition.Value.Status.StoredVersions = []string{"v1alpha1"}
				f.Definition.Value.Spec.Conversion = nil
			},
			"error definition: the definition belongs to the previous operator and serves only v1alpha1",
		},
		"stored versions": {
			func(f *installation.Facts) {
				f.Definition.Value.Status.StoredVersions = []string{"v1alpha1", "v1alpha2"}
			},
			"warning definition: the storage version is v1alpha2, but some stacks might still be stored in another version (stored versions: v1alpha1, v1alpha2)",
		},
		"conditions": {
			func(f *installation.Facts) {
				f.Definition.Value.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
					{Type: "llamastack.io/ConversionUntrusted", Status: "True", Message: "Argo CD reverts it"},
					{Type: apiextensionsv1.NamesAccepted, Status: "False", Message: "llsd is taken"},
				}
			},
			"error definition: condition llamastack.io/ConversionUntrusted: Argo CD reverts it\nerror definition: condition NamesAccepted is False: llsd is taken",
		},
		"no policy":               {func(f *installation.Facts) { f.Policy.Value = nil }, `warning policy: ValidatingAdmissionPolicy "llamastackdistributions.llamastack.io" does not exist, so the API server accepts some invalid stacks`},
		"no binding":              {func(f *installation.Facts) { f.Binding.Value = nil }, `warning policy: ValidatingAdmissionPolicyBinding "llamastackdistributions.llamastack.io" does not exist, so the policy has no effect`},
		"binding that only warns": {func(f *installation.Facts) { f.Binding.Value.Spec.ValidationActions = nil }, `warning policy: ValidatingAdmissionPolicyBinding "llamastackdistributions.llamastack.io" does not contain the action Deny, so the policy has no effect`},
		"no ConfigMap":            {func(f *installation.Facts) { f.Config.Value = nil }, `warning operator-config: ConfigMap "llama-stack-operator-config" does not exist in namespace "operator"`},
		"wrong ConfigMap":         {func(f *installation.Facts) { f.Config.Value.Data = map[string]string{"ingres": ""} }, `error operator-config: ConfigMap "llama-stack-operator-config": ingres: unknown key; did you mean "ingress"?`},
		"rights of a user":        {func(f *installation.Facts) { f.Rights.Value[10].Allowed = false }, `warning your-rights: you do not have permission to create pods/portforward in namespace "team-a"; without this permission, you cannot connect to the server of a stack, list its models, or chat with a model`},
	})
}

func TestOperatorProblems(t *testing.T) {
	status := func(version string, at time.Time) v1alpha2.LlamaStackDistribution {
		s := stack("my", "True", "", "")
		s.Status.Version = &v1alpha2.VersionStatus{OperatorVersion: version, LastUpdated: &metav1.Time{Time: at}}
		s.Status.ObservedGeneration = 1
		return s
	}
	lease := func(namespace string, age time.Duration) coordinationv1.Lease {
		return coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: now.Add(-age)}},
		}
	}
	check(t, map[string]change{
		"none":        {func(f *installation.Facts) { f.Operators.Value = nil }, "error operator: the operator's Deployment does not exist\nwarning version: the operator's version is unknown; this command has version 1.2.3"},
		"none ready":  {func(f *installation.Facts) { f.Operators.Value[0].Status.ReadyReplicas = 0 }, "error operator: Deployment operator/manager has no ready pods, but should have 2"},
		"one ready":   {func(f *installation.Facts) { f.Operators.Value[0].Status.ReadyReplicas = 1 }, "warning operator: Deployment operator/manager does not have enough ready pods: 1 of 2"},
		"scaled to 0": {func(f *installation.Facts) { *f.Operators.Value[0].Spec.Replicas = 0 }, "error operator: Deployment operator/manager has 0 replicas"},
		"two":         {func(f *installation.Facts) { f.Operators.Value = append(f.Operators.Value, operator("other")) }, "error operator: several operators are installed: operator/manager, other/manager"},
		"two leases": {func(f *installation.Facts) {
			f.Leases.Value = []coordinationv1.Lease{lease("a", 0), lease("b", time.Second)}
		}, "error operator: operators are active in several namespaces: a, b"},
		"expired lease": {func(f *installation.Facts) {
			f.Leases.Value = []coordinationv1.Lease{lease("a", 0), lease("b", time.Hour)}
		}, ""},
		"other version": {
			func(f *installation.Facts) {
				f.Stacks.Value = []v1alpha2.LlamaStackDistribution{status("1.2.3", now.Add(-time.Hour)), status("1.3.0", now)}
			},
			"warning version: the operator has version 1.3.0, and this command has version 1.2.3",
		},
		"other version in the label": {
			func(f *installation.Facts) {
				f.Operators.Value[0].Labels = map[string]string{"app.kubernetes.io/version": "v1.3.0"}
				f.Stacks.Value = nil
			},
			"warning version: the operator has version v1.3.0, and this command has version 1.2.3",
		},
		"rights": {
			func(f *installation.Facts) { f.Rules.Value[""] = f.Rules.Value[""][2:] },
			"error operator-rights: the operator lacks permissions in all namespaces: create configmaps, delete configmaps, get configmaps, list configmaps, patch configmaps and 33 more",
		},
		"every right": {
			func(f *installation.Facts) {
				f.Rules.Value[""] = []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
			}, "",
		},
		"one object only": {
			func(f *installation.Facts) { f.Rules.Value[""][0].ResourceNames = []string{"one"} },
			"error operator-rights: the operator lacks permissions in all namespaces: create configmaps, delete configmaps, get configmaps, list configmaps, patch configmaps and 31 more",
		},
		"namespaces": {
			func(f *installation.Facts) {
				f.Rules.Value = map[string][]rbacv1.PolicyRule{
					"": nil, "a": role(t, config.NamespacedRole),
					"b": role(t, config.NamespacedRole)[1:2],
				}
			},
			`error operator-rights: the operator lacks permissions in namespace "b": create configmaps, delete configmaps, get configmaps, list configmaps, patch configmaps and 92 more`,
		},
	})
}

func TestWebhookProblems(t *testing.T) {
	expired := issue(t, now.Add(-time.Minute), host)
	soon := issue(t, now.Add(24*time.Hour), host)
	elsewhere := issue(t, now.Add(365*24*time.Hour), "elsewhere")
	set := func(f *installation.Facts, made issued) {
		f.Definition.Value.Spec.Conversion.Webhook.ClientConfig.CABundle = made.bundle
		f.Webhook.Value.Webhooks[0].ClientConfig.CABundle = made.bundle
		f.Certificate.Value = made.certificate
	}
	check(t, map[string]change{
		"no bundle": {func(f *installation.Facts) { f.Definition.Value.Spec.Conversion.Webhook.ClientConfig.CABundle = nil }, "error webhook: the conversion webhook has no CA bundle, so the API server does not trust it"},
		"not PEM":   {func(f *installation.Facts) { f.Webhook.Value.Webhooks[0].ClientConfig.CABundle = []byte("Cg==") }, `error webhook: the CA bundle of the webhook "validate" is invalid: it contains no certificates in PEM format`},
		"no webhooks": {func(f *installation.Facts) {
			f.Webhook.Value, f.Definition.Value.Spec.Conversion = nil, nil
			f.Definition.Value.Spec.Versions = f.Definition.Value.Spec.Versions[1:]
		}, ""},
		"no conversion": {
			func(f *installation.Facts) { f.Definition.Value.Spec.Conversion = nil },
			"error webhook: the CustomResourceDefinition has several versions and no conversion webhook, so stacks lose the " +
				"fields that exist in only one version",
		},
		"no validating webhook": {
			func(f *installation.Facts) { f.Webhook.Value = nil },
			`warning webhook: ValidatingWebhookConfiguration "llama-stack-k8s-operator-validating-webhook-configuration" does not exist, so the API server accepts some invalid stacks, and only the operator reports their errors`,
		},
		"expired": {
			func(f *installation.Facts) { set(f, expired) },
			"error webhook: every certificate in the CA bundle of the conversion webhook has expired or is not valid yet\n" +
				`error webhook: every certificate in the CA bundle of the webhook "validate" has expired ` +
				"or is not valid yet\n" +
				"error certificate: the webhook certificate expired on 2026-10-31",
		},
		"certificate that expires soon": {func(f *installation.Facts) { set(f, soon) }, "warning certificate: the webhook certificate expires on 2026-11-02"},
		"no certificate":                {func(f *installation.Facts) { f.Certificate.Value = nil }, `warning certificate: Secret "llama-stack-k8s-operator-webhook-cert" in namespace "operator" does not contain a webhook certificate`},
		"certificate of another host": {
			func(f *installation.Facts) { set(f, elsewhere) },
			"error certificate: the webhook certificate is not valid for the conversion webhook: x509: certificate is valid for localhost, elsewhere, not " + host + "\n" +
				`error certificate: the webhook certificate is not valid for the webhook "validate": x509: certificate is valid for localhost, elsewhere, not ` + host,
		},
	})
}

func TestStacks(t *testing.T) {
	deleted := stack("deleted", "True", "", "")
	deleted.DeletionTimestamp = &metav1.Time{Time: now}
	paused := stack("paused", "False", "DeploymentPaused", "The stack is paused")
	paused.Annotations = map[string]string{names.AnnotationPaused: "true"}
	outdated := stack("outdated", "True", "", "")
	outdated.Generation, outdated.Status.Conditions[0].ObservedGeneration = 2, 1
	beside := stack("beside", "True", "", "")
	beside.Status.Conditions = append(beside.Status.Conditions, metav1.Condition{
		Type: v1alpha2.ConditionDataLeftBehind, Status: metav1.ConditionTrue,
		Reason: v1alpha2.ReasonDataNotOnVolume, Message: "the server stores the data of files in /a",
	})
	check(t, map[string]change{
		"none": {func(f *installation.Facts) { f.Stacks.Value = nil }, ""},
		"each state": {
			func(f *installation.Facts) {
				f.Stacks.Value = []v1alpha2.LlamaStackDistribution{
					deleted, paused, outdated,
					{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "new"}},
					stack("rolls", "False", "RolloutInProgress", "1 of 2"),
					stack("fails", "False", "SecretNotFound", "Secret s is missing"), beside,
				}
			},
			`warning stacks: team-a/deleted: is being deleted
warning stacks: team-a/paused: is paused; DeploymentPaused: The stack is paused
warning stacks: team-a/outdated: the operator has not reconciled the stack yet
warning stacks: team-a/new: the operator has not reconciled the stack yet
warning stacks: team-a/rolls: RolloutInProgress: 1 of 2
error stacks: team-a/fails: SecretNotFound: Secret s is missing
warning stacks: team-a/beside: DataNotOnVolume: the server stores the data of files in /a`,
		},
	})
	written := healthy(t)
	written.Stacks.Value[0].ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "helm", APIVersion: "llamastack.io/v1alpha1", Time: &metav1.Time{Time: now}},
		{Manager: "kubectl", APIVersion: "llamastack.io/v1alpha2"},
		{Manager: "manager", APIVersion: "llamastack.io/v1alpha1", Subresource: "status"},
	}
	const want = "field managers that write stacks as v1alpha1: helm (last on "
	if !slices.ContainsFunc(installation.Examine(written), func(f installation.Finding) bool {
		return f.Status == installation.OK && strings.HasPrefix(f.Message, want+now.UTC().Format(time.DateOnly)+")") &&
			!strings.Contains(f.Message, "kubectl") && !strings.Contains(f.Message, "manager (")
	}) {
		t.Errorf("%+v\nwant a message with %q", installation.Examine(written), want)
	}
	many := healthy(t)
	for range 60 {
		many.Stacks.Value = append(many.Stacks.Value, stack("x", "False", "RolloutFailed", ""))
	}
	got := problems(many)
	if strings.Count(got, "\n") != 50 || !strings.HasSuffix(got, "other stacks that are not Ready or have a warning: 10") {
		t.Errorf("got %s", got)
	}
}

// An object that the user cannot read causes a warning, not an error.
func TestUnknown(t *testing.T) {
	const problem = "you cannot"
	f := &installation.Facts{Now: now, Command: "1.2.3", Namespace: "operator"}
	f.Server.Problem, f.Definition.Problem, f.Operators.Problem, f.Webhook.Problem = problem, problem, problem, problem
	f.Certificate.Problem, f.Policy.Problem, f.Rules.Problem, f.Config.Problem = problem, problem, problem, problem
	f.Rights.Problem, f.Stacks.Problem = problem, problem
	findings := installation.Examine(f)
	for _, finding := range findings {
		if finding.Status != installation.Warning || !strings.HasSuffix(finding.Message, problem) {
			t.Errorf("%+v", finding)
		}
	}
	if len(findings) != 11 {
		t.Errorf("%d findings", len(findings))
	}
}
