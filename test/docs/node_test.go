//go:build node

package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

const (
	nodeLimit    = 6 * time.Minute
	nodePatience = time.Minute
	// operatorName is the name of the operator's image in the manifest.
	operatorName = "library/llama-stack-k8s-operator:dev"
)

// nodeSite is a site with a node. The node pulls all images from the cluster's own registry by their public names.
type nodeSite struct {
	*site

	registry string
	folder   string // contains image layers
	standIns map[string]v1.Image
	public   *image.Public
	pushed   map[string]bool
}

// The commands on the pages produce the output that the pages show, with pods on a real node and stand-ins for servers
// and models.
func TestPagesOnNode(t *testing.T) {
	s := newNodeSite(t)
	pages := slices.DeleteFunc(chosen(t), func(p page) bool { return !s.runs(script.Parse(p.text)) })
	if len(pages) == 0 {
		t.Fatal("no page has a command for a node")
	}
	s.mirror(t)
	s.kubectl(t, smallRequests+realServers, "apply", "--filename=-")
	built, err := image.Operator(t.Context(), s.folder, "docs-test")
	testutil.Must(t, err)
	s.push(t, operatorName, func() v1.Image { return built })
	for _, p := range pages {
		s.publish(t, p)
	}
	s.kubectl(t, "", "apply", "--kustomize="+filepath.Join(testutil.Root(), "config", "default"))
	s.kubectl(t, "", "rollout", "status", "--namespace="+names.OperatorNamespace,
		"deployment/"+names.OperatorServiceAccount, "--timeout=180s")
	s.run(t, pages)
}

func newNodeSite(t *testing.T) *nodeSite {
	t.Helper()
	for _, name := range []string{"KUBECONFIG", "CLUSTER_REGISTRY", "CLUSTER_DIR"} {
		if os.Getenv(name) == "" {
			t.Fatalf("$%s is not set: `make docs-test NODE=1` sets it on a new node", name)
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	testutil.Must(t, err)
	types, err := testutil.NewScheme()
	testutil.Must(t, err)
	c, err := client.New(config, client.Options{Scheme: types})
	testutil.Must(t, err)
	kubectl, err := exec.LookPath("kubectl")
	testutil.Must(t, err)
	s := &nodeSite{registry: os.Getenv("CLUSTER_REGISTRY"), folder: t.TempDir(), pushed: map[string]bool{}}
	s.public = image.NewPublic(s.folder)
	s.site = &site{
		client: c, kubeconfig: os.Getenv("KUBECONFIG"), programs: programs(t, kubectl), onNode: true, limit: nodeLimit,
		patience: nodePatience, prepare: s.prepareNamespace,
	}
	return s
}

// kubectl runs kubectl as an administrator.
func (s *nodeSite) kubectl(t *testing.T, input string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "kubectl", arguments...)
	command.Stdin = strings.NewReader(input)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
}

// mirror writes a file that makes the node pull the images of every registry from the cluster's own registry.
// containerd reads this file for each pull.
func (s *nodeSite) mirror(t *testing.T) {
	t.Helper()
	folder := os.Getenv("CLUSTER_DIR")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(testutil.Root(), folder)
	}
	folder = filepath.Join(folder, "node", "certs.d", "_default")
	testutil.Must(t, os.MkdirAll(folder, 0o700))
	text := fmt.Sprintf("server = \"http://%[1]s\"\n\n[host.\"http://%[1]s\"]\ncapabilities = [\"pull\", \"resolve\"]\n",
		s.registry)
	testutil.Must(t, os.WriteFile(filepath.Join(folder, "hosts.toml"), []byte(text), 0o600))
}

// smallRequests lowers the resource requests of the pods in the pages' namespaces, because the node has few CPUs and
// the stand-ins need little CPU time.
const smallRequests = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: docs-test}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchConditions:
  - name: of-a-page
    expression: object.metadata.namespace.startsWith("page-")
  reinvocationPolicy: Never
  failurePolicy: Fail
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [0, 1, 2, 3].filter(i, i < size(object.spec.containers) &&
        has(object.spec.containers[i].resources.requests) &&
        "cpu" in object.spec.containers[i].resources.requests).map(i,
        JSONPatch{op: "replace", path: "/spec/containers/" + string(i) + "/resources/requests/cpu", value: "10m"}) +
        (has(object.spec.initContainers) ? [0, 1, 2, 3].filter(i, i < size(object.spec.initContainers) &&
        has(object.spec.initContainers[i].resources.requests) &&
        "cpu" in object.spec.initContainers[i].resources.requests).map(i,
        JSONPatch{op: "replace", path: "/spec/initContainers/" + string(i) + "/resources/requests/cpu",
        value: "10m"}) : [])
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: docs-test}
spec: {policyName: docs-test}
`

// realServers makes the pods of stacks in the labeled namespaces run the real server.
const realServers = `
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: docs-test-real-server}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {docs-test: real-server}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchConditions:
  - name: of-a-stack
    expression: '!has(object.metadata.labels) || !("docs-test" in object.metadata.labels)'
  reinvocationPolicy: Never
  failurePolicy: Fail
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [0, 1, 2, 3].filter(i, i < size(object.spec.containers) &&
        object.spec.containers[i].image.contains("/distribution-starter:")).map(i,
        JSONPatch{op: "replace", path: "/spec/containers/" + string(i) + "/image",
        value: object.spec.containers[i].image.replace("/distribution-", "/real-")}) +
        (has(object.spec.initContainers) ? [0, 1, 2, 3].filter(i, i < size(object.spec.initContainers) &&
        object.spec.initContainers[i].image.contains("/distribution-starter:")).map(i,
        JSONPatch{op: "replace", path: "/spec/initContainers/" + string(i) + "/image",
        value: object.spec.initContainers[i].image.replace("/distribution-", "/real-")}) : [])
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: docs-test-real-server}
spec: {policyName: docs-test-real-server}
`

// standInManifest contains the pod and the Service of a model server.
const standInManifest = `
apiVersion: v1
kind: Service
metadata: {name: %[1]s}
spec: {selector: {docs-test: %[1]s}, ports: [{port: %[2]s}]}
---
apiVersion: v1
kind: Pod
metadata: {name: docs-test-%[1]s, labels: {docs-test: %[1]s}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: %[3]s
    command: [/standin, vllm]
    env: [{name: PORT, value: %[2]q}, {name: VLLM_MODELS, value: %[4]q}, {name: VLLM_DIMENSION, value: "768"}]
    readinessProbe: {httpGet: {path: /health, port: %[2]s}, periodSeconds: 1}
---
`

// prepareNamespace starts the servers that a page needs in its namespace, and waits until they are ready.
func (s *nodeSite) prepareNamespace(t *testing.T, namespace string, parsed *script.Page) {
	t.Helper()
	if parsed.RealServer {
		s.kubectl(t, "", "label", "namespace", namespace, "docs-test=real-server")
	}
	manifest := serverManifests(t, parsed)
	resolved, err := distribution.Resolve("starter", "", "", nil)
	testutil.Must(t, err)
	for _, server := range parsed.StandIns {
		manifest += fmt.Sprintf(standInManifest, server.Name, server.Port, resolved.Image,
			strings.Join(server.Models, ","))
	}
	if manifest == "" {
		return
	}
	s.kubectl(t, manifest, "apply", "--namespace="+namespace, "--filename=-")
	for _, server := range parsed.Servers {
		s.kubectl(t, "", "rollout", "status", "--timeout=180s", "deployment/"+server, "--namespace="+namespace)
	}
	if len(parsed.StandIns) > 0 {
		s.kubectl(t, "", "wait", "--for=condition=Ready", "--timeout=180s", "pod", "--selector=docs-test",
			"--namespace="+namespace)
	}
}
