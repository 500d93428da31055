package cli_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/fakeapi"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

const (
	pathOfDefinition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llamastackdistributions.llamastack.io"
	pathOfWebhook    = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/llama-stack-k8s-operator-validating-webhook-configuration"
	pathOfPolicy     = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/llamastackdistributions.llamastack.io"
	pathOfBinding    = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/llamastackdistributions.llamastack.io"
	operatorAt       = "llama-stack-k8s-operator-system"
)

// manifest reads a file with one document.
func manifest(t *testing.T, path string) object {
	t.Helper()
	data := golden.Read(t, path)
	var found object
	testutil.Must(t, yaml.Unmarshal(data, &found))
	return found
}

// installed starts an API server that contains the objects of an operator, from the manifests in the repository.
func installed(t *testing.T) *fakeapi.Server {
	t.Helper()
	api := fakeapi.Start(t)
	backend := httptest.NewTLSServer(nil)
	t.Cleanup(backend.Close)
	definition := manifest(t, "../../config/crd/bases/llamastack.io_llamastackdistributions.yaml")
	definition["status"] = object{
		"storedVersions": []any{"v1alpha2"},
		"conditions":     []any{object{"type": "Established", "status": "True"}},
	}
	api.Put(t, pathOfDefinition, definition)
	api.Put(t, pathOfWebhook, manifest(t, "../../config/webhook/validatingwebhookconfiguration.yaml"))
	api.Put(t, pathOfPolicy, manifest(t, "../../config/policy/validatingadmissionpolicy.yaml"))
	api.Put(t, pathOfBinding, manifest(t, "../../config/policy/validatingadmissionpolicybinding.yaml"))
	deployment := manifest(t, "../../config/manager/manager.yaml")
	deployment["status"] = object{"readyReplicas": 2}
	api.PutList(t, "/apis/apps/v1/deployments", "apps/v1", "DeploymentList", deployment)
	api.PutList(t, "/apis/coordination.k8s.io/v1/leases", "coordination.k8s.io/v1", "LeaseList")
	api.PutList(t, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "rbac.authorization.k8s.io/v1", "ClusterRoleBindingList",
		manifest(t, "../../config/rbac/role_binding.yaml"))
	api.Put(t, "/apis/rbac.authorization.k8s.io/v1/clusterroles/llama-stack-k8s-operator-manager-role", manifest(t, "../../config/rbac/role.yaml"))
	api.Put(t, "/api/v1/namespaces/"+operatorAt+"/configmaps/llama-stack-operator-config", object{
		"metadata": object{"name": "llama-stack-operator-config", "namespace": operatorAt},
		"data":     object{"ingress": "domain: example.com\n"},
	})
	api.PutList(t, stacksOfA, "llamastack.io/v1alpha2", "LlamaStackDistributionList")
	return api
}

func TestDoctor(t *testing.T) {
	api := installed(t)
	got := run(t, "", "doctor", "--kubeconfig", api.Kubeconfig)
	if got.code != 1 { // the manifests do not contain the CA bundle, which the operator writes
		t.Errorf("exit code %d, want 1", got.code)
	}
	contains(t, got.out,
		"STATUS   CHECK            MESSAGE\n",
		"ok       api-server       Kubernetes v1.37.0 is supported\n",
		"ok       definition       the definition serves v1alpha1, v1alpha2\n",
		"ok       operator         Deployment llama-stack-k8s-operator-system/llama-stack-k8s-operator-controller-manager has 2 ready pods\n",
		"error    webhook          the conversion webhook has no CA bundle, so the API server does not trust it; remedy: restart the operator",
		`warning  certificate      Secret "llama-stack-k8s-operator-webhook-cert" in namespace "llama-stack-k8s-operator-system" does not contain a webhook certificate`,
		"ok       policy           the admission policy is active\n",
		"ok       operator-rights  the operator has the permissions that it needs\n",
		`ok       operator-config  ConfigMap "llama-stack-operator-config" is valid`+"\n",
		"ok       your-rights      you have the permissions that the commands for stacks require\n",
		"ok       stacks           stacks that are Ready: 0 of 0\n")
	contains(t, got.err, "errors: 2, warnings: 2, ok: 9")
	narrow := runStreams(t, cli.Streams{Width: 60}, "", "doctor", "--kubeconfig", api.Kubeconfig)
	for line := range strings.Lines(narrow.out) {
		if len(line) > 60+1 && len(strings.Fields(line)) > 1 {
			t.Errorf("a line of %d characters on a terminal of 60: %q", len(line)-1, line)
		}
	}
	structured := run(t, "", "doctor", "--kubeconfig", api.Kubeconfig, "-o", "json")
	var findings []map[string]string
	if err := json.Unmarshal([]byte(structured.out), &findings); err != nil || len(findings) != 13 ||
		findings[0]["check"] != "api-server" {
		t.Errorf("%v in\n%s", err, structured.out)
	}
	run(t, "", "doctor", "--kubeconfig", api.Kubeconfig, "-o", "wide").exits(t, 2, "unknown format")
}

// Anyone can give a Deployment the labels of the operator, and 1.5 MB. The command reads few of them.
func TestDoctorForgedDeployments(t *testing.T) {
	api := installed(t)
	const all = "/apis/apps/v1/deployments"
	forged := object{"metadata": object{"name": "forged", "namespace": "team-b"}}
	api.Put(t, all, object{
		"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": object{"continue": "more"}, "items": []any{forged},
	})
	api.PutList(t, "/apis/apps/v1/namespaces/"+operatorAt+"/deployments", "apps/v1", "DeploymentList",
		manifest(t, "../../config/manager/manager.yaml"))
	got := run(t, "", "doctor", "--kubeconfig", api.Kubeconfig)
	contains(t, got.out, "Deployment llama-stack-k8s-operator-system/llama-stack-k8s-operator-controller-manager")
	if strings.Contains(got.out, "forged") {
		t.Errorf("a Deployment of another namespace counts:\n%s", got.out)
	}
	for _, request := range api.Requests() {
		if strings.Contains(request, "/deployments?") &&
			(!strings.Contains(request, "limit=20") || strings.Contains(request, "continue=")) {
			t.Errorf("%s reads more than 20 Deployments", request)
		}
	}
}

// With -n, the command shows the limits that an administrator set for the namespace.
func TestDoctorBounds(t *testing.T) {
	const path = "/api/v1/namespaces/" + operatorAt + "/configmaps/llama-stack-operator-config"
	api := installed(t)
	config := func(bounds string) {
		api.Put(t, path, object{
			"metadata": object{"name": "llama-stack-operator-config", "namespace": operatorAt},
			"data":     object{"bounds": bounds},
		})
	}
	api.Put(t, "/api/v1/namespaces/team-a", object{
		"metadata": object{"name": "team-a", "labels": object{"tier": "trial"}},
	})
	api.PutList(t, "/apis/llamastack.io/v1alpha2/namespaces/team-b/llamastackdistributions", "llamastack.io/v1alpha2",
		"LlamaStackDistributionList")
	for _, tc := range []struct{ namespace, bounds, want string }{
		{"team-a", "", `ok       bounds           namespace "team-a" has no limits, because no rule of the key "bounds" applies`},
		{
			"team-a", "[{namespaceLabels: {tier: full}, stacks: 9}, {namespaceLabels: {tier: trial}, images: [quay.io/team], stacks: 1}]",
			`ok       bounds           the limits for namespace "team-a" are, from the rule for namespaceLabels: {tier: trial}: images: [quay.io/team]; stacks: 1`,
		},
		{"team-a", "[{}]", `ok       bounds           namespace "team-a" has no limits, because its rule (every namespace) contains none`},
		{"team-b", "[{stacks: 3}]", `ok       bounds           the limits for namespace "team-b" are, from the rule for every namespace: stacks: 3`},
		{
			"team-b", "[{namespaceLabels: {tier: full}, stacks: 9}]",
			`warning  bounds           cannot read the labels of namespace "team-b", on which its limits depend: the namespace does not exist`,
		},
		{
			"team-a", "[{stacks: many}]",
			`error    bounds           the key "bounds" is invalid, so the limits for namespace "team-a" are unknown; remedy: correct the key`,
		},
	} {
		config(tc.bounds)
		got := run(t, "", "doctor", "--kubeconfig", api.Kubeconfig, "-n", tc.namespace)
		contains(t, got.out, tc.want)
	}
}

// For a user with few permissions, the command prints warnings that name the missing permissions, and the exit code is
// 0.
func TestDoctorDenied(t *testing.T) {
	api := installed(t)
	for _, path := range api.Paths() {
		if path != "/version" {
			api.Deny(path)
		}
	}
	api.Deny("/apis/apps/v1/namespaces/" + operatorAt + "/deployments")
	api.Deny("/api/v1/namespaces/" + operatorAt + "/secrets/llama-stack-k8s-operator-webhook-cert")
	api.Deny("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
	got := run(t, "", "doctor", "--kubeconfig", api.Kubeconfig)
	if got.code != 0 || strings.Contains(got.out, "\nerror") {
		t.Errorf("exit code %d, output:\n%s%s", got.code, got.out, got.err)
	}
	contains(t, got.out,
		"cannot read the definition: you cannot get customresourcedefinitions.apiextensions.k8s.io in all namespaces",
		"cannot read the operator: you cannot list deployments.apps in all namespaces",
		"cannot read the stacks: you cannot list llamastackdistributions.llamastack.io in namespace \"team-a\"",
		"cannot read your permissions: you cannot create selfsubjectaccessreviews.authorization.k8s.io")
}

func TestDoctorUnreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	folder := write(t, map[string]string{"config": "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: '" + server.URL + "'}}]}"})
	run(t, "", "doctor", "--kubeconfig", folder+"/config").refuses(t, 1, "cannot reach the cluster")
}
