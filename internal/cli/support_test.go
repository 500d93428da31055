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

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/fakeapi"
)

// untar returns the files in an archive.
func untar(t *testing.T, data []byte) map[string]string {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(header.Name, "llamastack-support/")] = string(text)
	}
}

// populated adds a stack and its objects to an installation. The Secret, the environment and the log of the stack
// contain a credential.
func populated(t *testing.T) *fakeapi.Server {
	t.Helper()
	api := installed(t)
	servedStack(t, api, starterSpec(), nil, modelServer(t, oneModel, nil, false))
	stack := object{
		"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "spec": starterSpec(),
		"metadata": object{"name": "my", "namespace": "team-a", "annotations": object{"x": canary}},
	}
	api.Put(t, pathOfStacks+"/my", stack)
	api.PutList(t, pathOfStacks, "llamastack.io/v1alpha2", "LlamaStackDistributionList", stack)
	ours := object{"app.kubernetes.io/managed-by": "llama-stack-operator", "app.kubernetes.io/instance": "my"}
	api.PutList(t, "/apis/apps/v1/namespaces/team-a/deployments", "apps/v1", "DeploymentList",
		object{"metadata": object{"name": "my", "namespace": "team-a", "labels": ours}},
		object{"metadata": object{
			"name": "other", "namespace": "team-a",
			"labels": object{"app.kubernetes.io/instance": "other"},
		}})
	api.PutList(t, "/api/v1/namespaces/team-a/services", "v1", "ServiceList",
		object{"metadata": object{
			"name": "of-the-previous", "namespace": "team-a",
			"ownerReferences": []any{object{"kind": "LlamaStackDistribution", "name": "my"}},
		}})
	api.PutList(t, pathOfPods, "v1", "PodList", object{
		"metadata": object{"name": "my-1", "namespace": "team-a"},
		"spec": object{"containers": []any{object{"name": "llama-stack", "env": []any{
			object{"name": "PLAIN", "value": canary + "-env"},
			object{"name": "TOKEN", "valueFrom": object{"secretKeyRef": object{"name": "creds", "key": "k"}}},
		}}}},
		"status": object{"containerStatuses": []any{object{"name": "llama-stack", "restartCount": 1}}},
	})
	api.Put(t, pathOfPods+"/my-1/log", "INFO up\nvalue "+canary+" and "+canary+"-env\n")
	api.Put(t, "/api/v1/namespaces/team-a/secrets/creds", object{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": object{"name": "creds", "namespace": "team-a"}, "data": object{"k": []byte(canary)},
	})
	api.PutList(t, "/api/v1/namespaces/team-a/events", "v1", "EventList",
		object{
			"metadata":       object{"name": "e1", "namespace": "team-a"},
			"involvedObject": object{"kind": "Pod", "name": "my-5d9c7b6f8c-x2x4z"},
			"message":        "used " + canary, "reason": "Failed",
		},
		object{
			"metadata":       object{"name": "e3", "namespace": "team-a"},
			"involvedObject": object{"kind": "Deployment", "name": "my-other"},
			"message":        "unrelated",
		},
		object{
			"metadata": object{"name": "e2", "namespace": "team-a"}, "involvedObject": object{"name": "mystery"},
			"message": "unrelated",
		})
	operatorPods := "/api/v1/namespaces/" + operatorAt + "/pods"
	api.PutList(t, operatorPods, "v1", "PodList", object{
		"metadata": object{"name": "operator-1", "namespace": operatorAt},
		"spec":     object{"containers": []any{object{"name": "manager"}}},
	})
	api.Put(t, operatorPods+"/operator-1/log", "reconciled\n")
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
	if err != nil {
		t.Fatal(err)
	}
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
	spec := starterSpec()
	spec["overrideConfig"] = object{"configMapName": "theirs"}
	stack := object{
		"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "spec": spec,
		"metadata": object{
			"name": "my", "namespace": "team-a",
			"annotations": object{"llamastack.io/user-config-namespace": "team-b"},
		},
	}
	api.Put(t, pathOfStacks+"/my", stack)
	for allowed, want := range map[string]bool{"": false, "team-c": false, "team-a": true} {
		api.Put(t, "/api/v1/namespaces/team-b/configmaps/theirs", object{
			"apiVersion": "v1", "kind": "ConfigMap", "data": object{"config.yaml": "version: 2"},
			"metadata": object{
				"name": "theirs", "namespace": "team-b",
				"annotations": object{"llamastack.io/allow-namespaces": allowed},
			},
		})
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
		if path != "/version" && !strings.HasPrefix(path, pathOfStacks) {
			api.Deny(path)
		}
	}
	got := run(t, "", "support-bundle", "my", "--kubeconfig", api.Kubeconfig, "-o", "-")
	if got.code != 0 {
		t.Fatalf("exit code %d, messages:\n%s", got.code, got.err)
	}
	contains(t, got.err, "the archive is not complete; the file left-out.txt in the archive lists the missing information")
	contains(t, got.err, "ok: the archive has ")
	left := untar(t, []byte(got.out))["left-out.txt"]
	for _, want := range []string{
		`Pod in namespace "team-a": you cannot list pods in namespace "team-a"`,
		`Event in namespace "team-a": you cannot list events in namespace "team-a"`,
		"the operator: you cannot list deployments.apps in all namespaces",
	} {
		contains(t, left, want)
	}
}

func TestSupportBundleCommandLine(t *testing.T) {
	api := installed(t)
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no file":                  {[]string{"my"}, 2, `required flag(s) "output" not set`},
		"names and all namespaces": {[]string{"my", "-A", "-o", "-"}, 2, "stack names cannot be used with --all-namespaces or --selector; remove the names, or remove the flags"},
		"missing stack":            {[]string{"my", "-o", "-"}, 1, `there is no stack "my" in namespace "team-a"`},
		"missing folder":           {[]string{"-o", "/nowhere/x.tar.gz"}, 1, "error: write the archive: open /nowhere/"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", append([]string{"support-bundle", "--kubeconfig", api.Kubeconfig}, tc.args...)...)
			if got.code != tc.code || got.out != "" {
				t.Errorf("%+v", got)
			}
			contains(t, got.err, tc.want)
		})
	}
}
