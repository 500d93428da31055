package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/fakeapi"
)

// untar returns the files in an archive.
func untar(t *testing.T, data []byte) map[string]string {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	testutil.Must(t, err)
	files := map[string]string{}
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		testutil.Must(t, err)
		text, err := io.ReadAll(reader)
		testutil.Must(t, err)
		files[strings.TrimPrefix(header.Name, "llamastack-support/")] = string(text)
	}
}

// populated adds a stack and its objects to an installation. The Secret, the environment and the log of the stack
// contain a credential.
func populated(t *testing.T) *fakeapi.Server {
	t.Helper()
	api := installed(t)
	servedStack(t, api, starterSpec(), nil, modelServer(t, oneModel, nil, false))
	s := &stubServer{api}
	const stack = `{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, spec: {distribution: {name: starter}},
		metadata: {name: my, namespace: team-a, annotations: {x: ` + canary + `}}}`
	s.put(t, stacksOfA+"/my", stack)
	s.put(t, stacksOfA, listOf("LlamaStackDistribution", "llamastack.io/v1alpha2", stack))
	s.put(t, deploymentsOfA, listOf("Deployment", "apps/v1",
		`{metadata: {name: my, namespace: team-a, labels: {app.kubernetes.io/managed-by: llama-stack-operator, app.kubernetes.io/instance: my}}}`,
		`{metadata: {name: other, namespace: team-a, labels: {app.kubernetes.io/instance: other}}}`))
	s.put(t, "/api/v1/namespaces/team-a/services", listOf("Service", "v1",
		`{metadata: {name: of-the-previous, namespace: team-a, ownerReferences: [{kind: LlamaStackDistribution, name: my}]}}`))
	s.put(t, pathOfPods, listOf("Pod", "v1", `{metadata: {name: my-1, namespace: team-a},
		spec: {containers: [{name: llama-stack, env: [
			{name: PLAIN, value: `+canary+`-env}, {name: TOKEN, valueFrom: {secretKeyRef: {name: creds, key: k}}}]}]},
		status: {containerStatuses: [{name: llama-stack, restartCount: 1}]}}`))
	s.put(t, pathOfPods+"/my-1/log", "INFO up\nvalue "+canary+" and "+canary+"-env\n")
	s.put(t, "/api/v1/namespaces/team-a/secrets/creds", `{apiVersion: v1, kind: Secret,
		metadata: {name: creds, namespace: team-a}, data: {k: `+encoded(canary)+`}}`)
	s.put(t, "/api/v1/namespaces/team-a/events", listOf("Event", "v1",
		`{metadata: {name: e1, namespace: team-a}, involvedObject: {kind: Pod, name: my-5d9c7b6f8c-x2x4z},
			message: used `+canary+`, reason: Failed}`,
		`{metadata: {name: e3, namespace: team-a}, involvedObject: {kind: Deployment, name: my-other}, message: unrelated}`,
		`{metadata: {name: e2, namespace: team-a}, involvedObject: {name: mystery}, message: unrelated}`))
	const operatorPods = "/api/v1/namespaces/" + operatorAt + "/pods"
	s.put(t, operatorPods, listOf("Pod", "v1",
		`{metadata: {name: operator-1, namespace: `+operatorAt+`}, spec: {containers: [{name: manager}]}}`))
	s.put(t, operatorPods+"/operator-1/log", "reconciled\n")
	return api
}

func TestSupportBundle(t *testing.T) {
	api := populated(t)
	file := filepath.Join(t.TempDir(), "support.tar.gz")
	bundle := func(args ...string) (result, map[string]string) {
		t.Helper()
		got := run(t, "", append([]string{"support-bundle", "--kubeconfig", api.Kubeconfig, "-o", file}, args...)...)
		data, err := os.ReadFile(file)
		if got.code != 0 || err != nil {
			t.Fatalf("exit code %d, %v, messages:\n%s", got.code, err, got.err)
		}
		files := untar(t, data)
		for name, text := range files {
			if strings.Contains(text, canary) {
				t.Errorf("%s contains a credential:\n%s", name, text)
			}
		}
		return got, files
	}
	got, files := bundle("my")
	contains(t, got.err, "ok: "+file+" has ")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	const operator = "namespaces/" + operatorAt + "/"
	want := []string{
		"cluster/CustomResourceDefinition/llamastackdistributions.llamastack.io.yaml",
		"cluster/ValidatingAdmissionPolicy/llamastackdistributions.llamastack.io.yaml",
		"cluster/ValidatingAdmissionPolicyBinding/llamastackdistributions.llamastack.io.yaml",
		"cluster/ValidatingWebhookConfiguration/llama-stack-k8s-operator-validating-webhook-configuration.yaml",
		"doctor.yaml", "left-out.txt",
		operator + "ConfigMap/llama-stack-operator-config.yaml", operator + "Deployment/llama-stack-k8s-operator-controller-manager.yaml",
		operator + "Pod/operator-1.yaml", operator + "logs/operator-1.manager.log",
		"namespaces/team-a/Deployment/my.yaml", "namespaces/team-a/LlamaStackDistribution/my.yaml", "namespaces/team-a/Pod/my-1.yaml",
		"namespaces/team-a/ReplicaSet/my-1.yaml", "namespaces/team-a/Secret/creds.yaml", "namespaces/team-a/Service/of-the-previous.yaml", "namespaces/team-a/events.yaml",
		"versions.yaml",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	contains(t, files["namespaces/team-a/events.yaml"], "message: used <redacted>")
	contains(t, files["left-out.txt"], "the server logs: to add them, set --server-logs")
	if strings.Contains(files["namespaces/team-a/events.yaml"], "unrelated") {
		t.Error("the archive contains the events of another stack")
	}
	first, err := os.ReadFile(file)
	testutil.Must(t, err)
	bundle("my")
	if second, _ := os.ReadFile(file); !bytes.Equal(first, second) {
		t.Error("the second archive of the same cluster has other bytes")
	}

	_, files = bundle("-n", "team-a", "--server-logs")
	contains(t, files["namespaces/team-a/logs/my-1.llama-stack.log"], "INFO up\nvalue <redacted> and <redacted>")
	if files["namespaces/team-a/logs/my-1.llama-stack.previous.log"] == "" {
		t.Error("the archive does not contain the log before the restart")
	}
}

// The archive contains a ConfigMap of another namespace only if the ConfigMap allows the stack to use it. Otherwise,
// the author of a stack would choose which ConfigMaps of others the archive of an administrator contains.
func TestSupportBundleOfAnotherNamespace(t *testing.T) {
	api := populated(t)
	s := &stubServer{api}
	s.put(t, stacksOfA+"/my", `{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution,
		metadata: {name: my, namespace: team-a, annotations: {llamastack.io/user-config-namespace: team-b}},
		spec: {distribution: {name: starter}, overrideConfig: {configMapName: theirs}}}`)
	for allowed, want := range map[string]bool{"": false, "team-c": false, "team-a": true} {
		s.put(t, "/api/v1/namespaces/team-b/configmaps/theirs", `{apiVersion: v1, kind: ConfigMap, data: {config.yaml: "version: 2"},
			metadata: {name: theirs, namespace: team-b, annotations: {llamastack.io/allow-namespaces: "`+allowed+`"}}}`)
		got := run(t, "", "support-bundle", "my", "--kubeconfig", api.Kubeconfig, "-o", "-")
		files := untar(t, []byte(got.out))
		if _, is := files["namespaces/team-b/ConfigMap/theirs.yaml"]; is != want {
			t.Errorf("allowed for %q: in the archive: %t, want %t\n%s", allowed, is, want, files["left-out.txt"])
		}
	}
}

// The archive contains no logs and no events of a Deployment that only has the labels of the operator, because these
// can be the logs of servers. The settings come from the namespace of the operator, also without a conversion webhook.
func TestSupportBundleOfAnImpostor(t *testing.T) {
	api := populated(t)
	api.Put(t, pathOfDefinition, object{"metadata": object{"name": "llamastackdistributions.llamastack.io"}})
	deployment := manifest(t, "../../config/manager/manager.yaml")
	labels := object{"app.kubernetes.io/name": "llama-stack-k8s-operator"}
	api.PutList(t, "/apis/apps/v1/deployments", "apps/v1", "DeploymentList", object{
		"metadata": object{"name": "fake", "namespace": "team-a", "labels": labels},
		"spec":     object{"selector": object{"matchLabels": object{"app": "theirs"}}},
	}, deployment)
	got := run(t, "", "support-bundle", "my", "--kubeconfig", api.Kubeconfig, "-o", "-")
	files := untar(t, []byte(got.out))
	for name, text := range files {
		if strings.HasPrefix(name, "namespaces/team-a/logs/") || strings.Contains(text, "unrelated") {
			t.Errorf("the archive contains %s:\n%s", name, text)
		}
	}
	for _, name := range []string{"ConfigMap/llama-stack-operator-config.yaml", "logs/operator-1.manager.log"} {
		if files["namespaces/"+operatorAt+"/"+name] == "" {
			t.Errorf("the archive does not contain %s of the operator", name)
		}
	}
}

// left-out.txt lists the objects that the user cannot read.
func TestSupportBundleDenied(t *testing.T) {
	api := populated(t)
	for _, path := range api.Paths() {
		if path != "/version" && !strings.HasPrefix(path, stacksOfA) {
			api.Deny(path)
		}
	}
	got := run(t, "", "support-bundle", "my", "--kubeconfig", api.Kubeconfig, "-o", "-")
	got.mustExit(t, 0)
	contains(t, got.err, "the archive is not complete; the file left-out.txt in the archive lists the missing information")
	contains(t, got.err, "ok: the archive has ")
	left := untar(t, []byte(got.out))["left-out.txt"]
	contains(t, left,
		`Pod in namespace "team-a": you cannot list pods in namespace "team-a"`,
		`Event in namespace "team-a": you cannot list events in namespace "team-a"`,
		"the operator: you cannot list deployments.apps in all namespaces")
}

func TestSupportBundleCommandLine(t *testing.T) {
	api := installed(t)
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"names and all namespaces": {[]string{"my", "-A", "-o", "-"}, 2, "stack names cannot be used with --all-namespaces or --selector; remove the names, or remove the flags"},
		"missing folder":           {[]string{"-o", "/nowhere/x.tar.gz"}, 1, "error: write the archive: open /nowhere/"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", append([]string{"support-bundle", "--kubeconfig", api.Kubeconfig}, tc.args...)...)
			got.refuses(t, tc.code, tc.want)
		})
	}
}
