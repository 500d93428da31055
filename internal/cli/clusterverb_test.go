package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/fakeapi"
)

// stubServer is an API server that responds to each path with a fixed body or status.
type stubServer struct{ *fakeapi.Server }

// stub starts an API server that responds with the body for the requested path.
func stub(t *testing.T, bodies map[string]string) *stubServer {
	t.Helper()
	s := &stubServer{fakeapi.Start(t)}
	for path, body := range bodies {
		s.put(t, path, body)
	}
	return s
}

// put sets the response to requests for a path: a Forbidden error for the body "403", and otherwise the YAML as JSON.
// The body of a log is plain text.
func (s *stubServer) put(t *testing.T, path, body string) {
	t.Helper()
	var value any = body
	switch {
	case body == "403":
		s.Deny(path)
		return
	case strings.HasSuffix(path, "/log"):
	default:
		if err := yaml.Unmarshal([]byte(body), &value); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	s.Put(t, path, value)
}

// run runs a command against the server, and removes the path of the kubeconfig from the output.
func (s *stubServer) run(t *testing.T, args ...string) result {
	t.Helper()
	got := runStreams(t, cli.Streams{Width: 80}, "", append(args, "--kubeconfig", s.Kubeconfig)...)
	got.out = strings.ReplaceAll(got.out, " --kubeconfig "+s.Kubeconfig, "")
	got.err = strings.ReplaceAll(got.err, " --kubeconfig "+s.Kubeconfig, "")
	return got
}

func (s *stubServer) check(t *testing.T, wantCode int, want string, args ...string) {
	t.Helper()
	got := s.run(t, args...)
	got.exits(t, wantCode, args)
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got.out+got.err); diff != "" {
		t.Errorf("%v (-want +got):\n%s", args, diff)
	}
}

// liveStack returns a ready stack in the namespace team-a.
func liveStack(name string) string {
	return fmt.Sprintf(`{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution,
	metadata: {name: %s, namespace: team-a, generation: 1, creationTimestamp: %q}, spec: {distribution: {name: starter}},
	status: {observedGeneration: 1, phase: Ready, serviceURL: "http://%[1]s-service.team-a.svc:8321",
		version: {operatorVersion: v1.0.0, llamaStackServerVersion: 0.7.3},
	resolvedDistribution: {serverRelease: "0.7"},
	configGeneration: {configMapName: %[1]s-config-1, providerCount: 1, resourceCount: 1},
	conditions: [{type: Ready, status: "True", reason: MinimumReplicasAvailable,
		message: 1/1 replicas available with current config}]}}`,
		name, time.Now().Add(-time.Hour).Format(time.RFC3339))
}

func listOf(kind, version string, items ...string) string {
	return fmt.Sprintf("{kind: %sList, apiVersion: %s, metadata: {}, items: [%s]}", kind, version,
		strings.Join(items, ", "))
}

func configMap(config string) string {
	data, _ := json.Marshal(config)
	return fmt.Sprintf("{kind: ConfigMap, apiVersion: v1, metadata: {name: my-config-1, namespace: team-a}, data: {config.yaml: %s}}", data)
}

const twoRegistered = "registered_resources:\n  models:\n  - {model_id: llama, provider_id: vllm}\n  - {model_id: embed, provider_id: vllm, model_type: embedding}\n"

func TestStatusOfOne(t *testing.T) {
	s := stub(t, map[string]string{
		stacksOfA + "/my": liveStack("my"),
		"/apis/apps/v1/namespaces/team-a/deployments/my": `{kind: Deployment, apiVersion: apps/v1, metadata: {name: my, uid: d}, spec: {replicas: 1},
			status: {replicas: 1, updatedReplicas: 1, availableReplicas: 1}}`,
		"/apis/apps/v1/namespaces/team-a/replicasets":      listOf("ReplicaSet", "apps/v1"),
		"/api/v1/namespaces/team-a/pods":                   "403",
		"/api/v1/namespaces/team-a/configmaps/my-config-1": configMap(twoRegistered),
		allStacks: listOf("LlamaStackDistribution", "llamastack.io/v1alpha2", liveStack("my")),
	})
	const tree = `
✓ LlamaStackDistribution team-a/my: serving, 60m old
├─ ✓ Deployment my: 1 of 1 pod can serve requests
└─ Server
   ├─ release 0.7.3, configured as 0.7
   └─ 2 models in the configuration
      ├─ vllm/llama (llm)
      └─ vllm/embed (embedding)
Not shown: you cannot list pods in namespace "team-a".

✓ The stack is ready: the server is available at
http://my-service.team-a.svc:8321
`
	s.check(t, 0, tree, "status", "my")
	if len(s.Requests()) != 5 {
		t.Errorf("requests: %q", s.Requests())
	}
	s.check(t, 0, tree, "status", "my", "-A")
	contains(t, strings.Join(s.Requests(), "\n"), "fieldSelector=metadata.name%3Dmy")
	s.check(t, 1, "error: there is no stack \"your\" in namespace \"team-a\"; use -n team-a\n", "status", "your")
	s.check(t, 2, "error: \"my\": a name cannot be used with --selector; remove the name, or remove --selector\n",
		"status", "my", "-l", "a=b")
	s.check(t, 2, "error: --watch cannot be used with --output json; remove one of the flags\n", "status", "my", "--watch", "-o", "json")
	var report struct {
		Name    string
		Verdict struct{ Level, Sentence string }
	}
	if err := json.Unmarshal([]byte(s.run(t, "status", "my", "-o", "json").out), &report); err != nil ||
		report.Name != "my" ||
		report.Verdict.Level != "ok" {
		t.Errorf("%v: %+v", err, report)
	}
}

// A list of 500 stacks requires only one request.
func TestStatusOfAll(t *testing.T) {
	rows := make([]string, 0, 500)
	for i := range 500 {
		rows = append(rows, liveStack(fmt.Sprintf("stack-%03d", i)))
	}
	s := stub(t, map[string]string{allStacks: listOf("LlamaStackDistribution", "llamastack.io/v1alpha2", rows...)})
	got := s.run(t, "status", "-A", "-l", "team=a")
	if got.code != 0 || !strings.HasSuffix(got.out, "\n500 of 500 stacks ready.\n") ||
		strings.Count(got.out, "\n") != 503 {
		t.Errorf("exit code %d\n%s%s", got.code, got.err, got.out[max(0, len(got.out)-300):])
	}
	want := []string{"GET /apis/llamastack.io/v1alpha2/llamastackdistributions?labelSelector=team%3Da&limit=50"}
	if diff := cmp.Diff(want, s.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestStatusOfNone(t *testing.T) {
	s := stub(t, map[string]string{stacksOfA: listOf("LlamaStackDistribution", "llamastack.io/v1alpha2")})
	s.check(t, 0, "Namespace \"team-a\" has no stacks. To write a manifest, run: kubectl llamastack\ninit\n", "status")
	s = stub(t, map[string]string{stacksOfA: "403"})
	s.check(t, 1, "error: you cannot list llamastackdistributions.llamastack.io in namespace \"team-a\"; ask an administrator for that permission, "+
		"and check it with: kubectl auth can-i list llamastackdistributions.llamastack.io -n team-a\n", "status")
}

func TestModels(t *testing.T) {
	s := stub(t, map[string]string{
		stacksOfA + "/my": liveStack("my"), "/api/v1/namespaces/team-a/configmaps/my-config-1": configMap(twoRegistered),
	})
	s.check(t, 0, `
MODEL       TYPE       PROVIDER  PROVIDER MODEL
vllm/llama  llm        vllm      llama
vllm/embed  embedding  vllm      embed
note: these models are in the configuration; the server might serve more models; `+
		"to list the models of the server, set --live\n", "models", "my")
	s.put(t, "/api/v1/namespaces/team-a/configmaps/my-config-1", configMap("version: 2\n"))
	s.check(t, 0, `
The configuration of stack "my" registers no models. Add a model to
spec.resources.models, or set --live to list the models of the server:

  spec:
    resources:
      models:
      - name: llama3.2:3b

Next: kubectl edit llsd my -n team-a
`, "models", "my")
	s.check(t, 0, "[]\n", "models", "my", "-o", "json")
}

func TestEvents(t *testing.T) {
	at := time.Now().Add(-5 * time.Minute).Format(time.RFC3339)
	event := func(kind, name, class, reason string) string {
		return fmt.Sprintf(`{involvedObject: {kind: %s, name: %s}, type: %s, reason: %s, message: m, count: 2, firstTimestamp: %q, lastTimestamp: %[5]q}`,
			kind, name, class, reason, at)
	}
	s := stub(t, map[string]string{
		"/api/v1/namespaces/team-a/events": listOf("Event", "v1", event("Deployment", "my", "Normal", "Scaled"),
			event("Deployment", "your", "Normal", "Scaled"), event("Pod", "my-7d9f8c6b5-x2k4z", "Warning", "BackOff")),
	})
	s.check(t, 0, `
LAST SEEN  COUNT  TYPE     REASON   OBJECT                  MESSAGE
5m         2      Warning  BackOff  Pod/my-7d9f8c6b5-x2k4z  m
5m         2      Normal   Scaled   Deployment/my           m
`, "events", "my", "--warnings")
	if len(s.Requests()) != 1 || !strings.Contains(s.Requests()[0], "fieldSelector=") {
		t.Errorf("requests: %q", s.Requests())
	}
	s.check(t, 1,
		"error: there is no stack \"their\" in namespace \"team-a\"; to list all stacks, run kubectl get llsd -A\n",
		"events", "their")
	s.check(t, 2, "error: --since \"-1m0s\": must not be negative; use a duration like 10m\n", "events", "my",
		"--since", "-1m")
}

func TestLogs(t *testing.T) {
	pod := func(name string, ready string) string {
		return fmt.Sprintf(`{metadata: {name: %s}, spec: {containers: [{name: llama-stack}]}, status: {conditions: [{type: Ready, status: %q}]}}`,
			name, ready)
	}
	s := stub(t, map[string]string{
		stacksOfA + "/my":        liveStack("my"),
		pathOfPods:               listOf("Pod", "v1", pod("my-1", "True"), pod("my-22", "False")),
		pathOfPods + "/my-1/log": "one\ntwo\n", pathOfPods + "/my-22/log": "three\n",
	})
	s.check(t, 0,
		"three\nnote: container \"llama-stack\" in pod \"my-22\" (one of 2 pods; for all pods, set --all-pods)\n",
		"logs", "my", "--tail", "5", "--since", "1m")
	contains(t, strings.Join(s.Requests(), "\n"), "GET "+pathOfPods+"/my-22/log?container=llama-stack&sinceSeconds=60&tailLines=5")
	s.check(t, 0, "my-1  | one\nmy-1  | two\nmy-22 | three\n", "logs", "my", "--all-pods")
	s.check(t, 1, "error: pod \"my-22\" has no container \"x\"; use a container of this pod: llama-stack\n", "logs", "my", "-c", "x")
	s.check(t, 1, "error: no selected container has restarted, so there are no previous logs; remove --previous, "+
		"or set --container to another container\n", "logs", "my", "--previous")
	s.check(t, 2, "error: --tail \"-2\": must be at least -1; use a number of lines, or -1 for all lines\n", "logs",
		"my", "--tail", "-2")
}

func TestVersion(t *testing.T) {
	s := stub(t, map[string]string{
		"/version": "{gitVersion: v1.34.0}",
		"/apis":    `{kind: APIGroupList, apiVersion: v1, groups: [{name: llamastack.io, versions: [{version: v1alpha2}, {version: v1alpha1}]}]}`,
		"/api":     `{kind: APIVersions, versions: [v1]}`,
		pathOfDefinition: `{kind: PartialObjectMetadata,
			apiVersion: meta.k8s.io/v1,
			metadata: {name: llamastackdistributions.llamastack.io, labels: {app.kubernetes.io/version: v1.0.1}}}`,
		allDeployments: listOf("Deployment", "apps/v1", `{metadata: {namespace: ops, name: llama-stack-operator}, spec: {replicas: 2,
			template: {spec: {containers: [{name: manager, image: "example.com/operator:v1.0.0"}]}}},
			status: {readyReplicas: 2}}`),
		allStacks: listOf("LlamaStackDistribution", "llamastack.io/v1alpha2", liveStack("my")),
	})
	got := s.run(t, "version")
	contains(t, got.out,
		"Command:       test (go", "Releases:      0.2, ", "Operator:      v1.0.0 in ops/llama-stack-operator, 2 of 2 pods ready\n",
		"Definition:    v1.0.1\n", "Stacks:        1 with operator version v1.0.0 in the status\n", "API versions:  v1alpha2, v1alpha1\n", "Kubernetes:    v1.34.0\n")
	// In this operator's manifests, the only label on the Deployment is the operator's name.
	contains(t, strings.Join(s.Requests(), "\n"), "labelSelector=app.kubernetes.io%2Fname%3Dllama-stack-k8s-operator")
	var out, errs strings.Builder
	code := cli.Run(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "v1.2.0",
		[]string{"version", "--kubeconfig", s.Kubeconfig})
	for _, want := range []string{
		"warning: operator ops/llama-stack-operator has version v1.0.0, and this command has version v1.2.0",
		"warning: operator ops/llama-stack-operator has version v1.0.0, and the CustomResourceDefinition has version v1.0.1",
	} {
		if code != 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("exit code %d, no %q in\n%s", code, want, errs.String())
		}
	}
	before := len(s.Requests())
	if got := s.run(t, "version", "--client", "-o", "yaml"); got.code != 0 ||
		!strings.Contains(got.out, "version: test\n") ||
		len(s.Requests()) != before {
		t.Errorf("exit code %d\n%s", got.code, got.out)
	}
}

// The command prints its own version even if the kubeconfig does not contain the context.
func TestVersionWithoutCluster(t *testing.T) {
	s := stub(t, nil)
	got := s.run(t, "version", "--context", "missing")
	if got.code != 1 || !strings.HasPrefix(got.out, "Command:") || !strings.HasPrefix(got.err, "error: ") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}
