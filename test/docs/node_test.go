//go:build node

package docs

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

const (
	nodeLimit    = 6 * time.Minute
	nodePatience = time.Minute
	// operatorName is the image of the operator in the manifest.
	operatorName = "library/llama-stack-k8s-operator:dev"
)

// nodeSite is a site on a node, whose images come from the cluster's own registry under their public names.
type nodeSite struct {
	*site

	registry string
	folder   string // for the layers of images
	standIns map[string]v1.Image
	pushed   map[string]bool
}

// The commands of the pages have the output that the pages show, with pods on a real node and stand-ins for servers and
// models.
func TestPagesOnNode(t *testing.T) {
	s := newNodeSite(t)
	pages := slices.DeleteFunc(chosen(t), func(p page) bool { return !s.runs(script.Parse(p.text)) })
	if len(pages) == 0 {
		t.Fatal("no page has a command for a node")
	}
	s.mirror(t)
	s.lowerRequests(t)
	built, err := image.Operator(t.Context(), s.folder, "docs-test")
	if err != nil {
		t.Fatal(err)
	}
	s.push(t, operatorName, built)
	for _, p := range pages {
		s.publish(t, p)
	}
	s.kubectl(t, "", "apply", "--filename="+filepath.Join(testutil.Root(), "dist", "install.yaml"))
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
	if err != nil {
		t.Fatal(err)
	}
	types, err := testutil.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: types})
	if err != nil {
		t.Fatal(err)
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	s := &nodeSite{registry: os.Getenv("CLUSTER_REGISTRY"), folder: t.TempDir(), pushed: map[string]bool{}}
	s.site = &site{
		client: c, kubeconfig: os.Getenv("KUBECONFIG"), programs: programs(t, kubectl), onNode: true, limit: nodeLimit,
		patience: nodePatience, prepare: s.startStandIns,
	}
	return s
}

// kubectl runs the program as an administrator.
func (s *nodeSite) kubectl(t *testing.T, input string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "kubectl", arguments...)
	command.Stdin = strings.NewReader(input)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
}

// mirror configures the node to pull the images of every registry from the cluster's own registry. containerd reads the
// file at each pull.
func (s *nodeSite) mirror(t *testing.T) {
	t.Helper()
	folder := os.Getenv("CLUSTER_DIR")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(testutil.Root(), folder)
	}
	folder = filepath.Join(folder, "node", "certs.d", "_default")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("server = \"http://%[1]s\"\n\n[host.\"http://%[1]s\"]\ncapabilities = [\"pull\", \"resolve\"]\n",
		s.registry)
	if err := os.WriteFile(filepath.Join(folder, "hosts.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// smallRequests lowers the requests of the pods of pages, because the node has few CPUs and the stand-ins need little
// CPU time.
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

func (s *nodeSite) lowerRequests(t *testing.T) {
	t.Helper()
	s.kubectl(t, smallRequests, "apply", "--filename=-")
}

var (
	imageLine   = regexp.MustCompile(`\bimage: *"?([a-z0-9][^\s",}]*)`)
	versionLine = regexp.MustCompile(`\bversion: *"?([0-9]+\.[0-9]+(?:\.[0-9]+)?)\b`)
)

// publish pushes a stand-in for every image that the pods of a page need.
func (s *nodeSite) publish(t *testing.T, p page) {
	t.Helper()
	versions := []string{""}
	for _, match := range versionLine.FindAllStringSubmatch(p.text, -1) {
		versions = append(versions, match[1])
	}
	defaultImage := ""
	for _, version := range versions {
		resolved, err := distribution.Resolve("starter", "", version, nil)
		if err != nil {
			continue // the version of another program
		}
		_, tag, _ := strings.Cut(filepath.Base(resolved.Image), ":")
		s.push(t, publicName(resolved.Image), s.standIn(t, tag))
		if version == "" {
			defaultImage = tag
		}
	}
	for _, match := range imageLine.FindAllStringSubmatch(p.text, -1) {
		name := publicName(match[1])
		if s.pushed[name] {
			continue
		}
		built := s.standIn(t, defaultImage)
		for _, server := range []string{"ollama", "vllm"} {
			if strings.HasPrefix(name, server+"/") {
				var err error
				if built, err = image.ModelServer(built, server); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.push(t, name, built)
	}
}

// publicName returns the name of an image without its registry, which is the path that the node requests from the
// mirror.
func publicName(reference string) string {
	first, rest, found := strings.Cut(reference, "/")
	switch {
	case !found:
		return "library/" + reference
	case strings.ContainsAny(first, ".:") || first == "localhost":
		return rest
	default:
		return reference
	}
}

// standIn returns the image of the stand-in for a release of the server.
func (s *nodeSite) standIn(t *testing.T, release string) v1.Image {
	t.Helper()
	if s.standIns[release] == nil {
		wanted := slices.Sorted(maps.Keys(s.standIns))
		built, err := image.StandIns(t.Context(), s.folder, append(wanted, release)...)
		if err != nil {
			t.Fatal(err)
		}
		s.standIns = built
	}
	return s.standIns[release]
}

func (s *nodeSite) push(t *testing.T, name string, built v1.Image) {
	t.Helper()
	if s.pushed[name] {
		return
	}
	if err := image.Push(t.Context(), s.registry+"/"+name, built); err != nil {
		t.Fatal(err)
	}
	s.pushed[name] = true
}

// standInManifest returns a model server with a Service.
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
    env: [{name: PORT, value: %[2]q}, {name: VLLM_MODELS, value: %[4]q}]
    readinessProbe: {httpGet: {path: /health, port: %[2]s}, periodSeconds: 1}
---
`

// startStandIns starts the model servers that a page needs, and waits until they are ready.
func (s *nodeSite) startStandIns(t *testing.T, namespace string, parsed *script.Page) {
	t.Helper()
	if len(parsed.StandIns) == 0 {
		return
	}
	resolved, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var manifest bytes.Buffer
	for _, server := range parsed.StandIns {
		fmt.Fprintf(&manifest, standInManifest, server.Name, server.Port, resolved.Image, strings.Join(server.Models, ","))
	}
	s.kubectl(t, manifest.String(), "apply", "--namespace="+namespace, "--filename=-")
	s.kubectl(t, "", "wait", "--for=condition=Ready", "--timeout=180s", "pod", "--all", "--namespace="+namespace)
}
