package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// liveCluster is a fake API server. It serves objects by path, and records the requests.
type liveCluster struct {
	objects map[string]any
	// forbidden and unserved contain parts of paths. The server responds with status 403 to a path that contains a part in
	// forbidden. It does not serve the API of a path that contains a part in unserved.
	forbidden, unserved []string
	// rejections are the responses to dry runs, by path. The server accepts a dry run at another path.
	rejections map[string]metav1.Status
	mu         sync.Mutex
	requests   []string
	kubeconfig string
}

const (
	// dryRun is the method of a dry run in liveCluster.requests.
	dryRun     = "DRY-RUN"
	stacksOfA  = "/apis/llamastack.io/v1alpha2/namespaces/team-a/llamastackdistributions"
	demo       = stacksOfA + "/demo"
	deployment = "/apis/apps/v1/namespaces/team-a/deployments/demo"
	mapsOfA    = "/api/v1/namespaces/team-a/configmaps/"
	allMaps    = "/api/v1/configmaps"

	allDeployments      = "/apis/apps/v1/deployments"
	deploymentsOfA      = "/apis/apps/v1/namespaces/team-a/deployments"
	operatorDeployments = "/apis/apps/v1/namespaces/llama-stack-k8s-operator-system/deployments"

	pathOfVersion = "/version"
)

func newLiveCluster(t *testing.T) *liveCluster {
	t.Helper()
	c := &liveCluster{objects: map[string]any{
		allMaps: mapList(), pathOfVersion: map[string]any{"gitVersion": "v1.34.0"}, allStacks: stackList(),
		allDeployments: listOfDeployments(), deploymentsOfA: listOfDeployments(), operatorDeployments: listOfDeployments(),
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if r.URL.Query().Get("dryRun") == metav1.DryRunAll {
			method = dryRun
		}
		c.mu.Lock()
		c.requests = append(c.requests, method+" "+r.URL.Path)
		c.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		isForbidden := slices.ContainsFunc(c.forbidden, func(part string) bool { return strings.Contains(r.URL.Path, part) })
		object, found := c.objects[r.URL.Path]
		switch {
		case method == dryRun && c.rejections[r.URL.Path].Code != 0:
			answer := c.rejections[r.URL.Path]
			answer.Kind, answer.APIVersion = "Status", "v1"
			w.WriteHeader(int(answer.Code))
			_ = json.NewEncoder(w).Encode(answer)
		case method == dryRun && !isForbidden:
			sent, _ := io.ReadAll(r.Body)
			_, _ = w.Write(sent)
		case isForbidden:
			writeStatus(w, http.StatusForbidden, "Forbidden", "you may not")
		case found:
			_ = json.NewEncoder(w).Encode(object)
		case slices.ContainsFunc(c.unserved, func(part string) bool { return strings.Contains(r.URL.Path, part) }):
			http.Error(w, "404 page not found", http.StatusNotFound)
		default:
			writeStatus(w, http.StatusNotFound, "NotFound", "not found")
		}
	}))
	t.Cleanup(server.Close)
	c.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: here, clusters: [{name: here, cluster: {server: %q}}],
  contexts: [{name: here, context: {cluster: here, user: me, namespace: team-a}}],
  users: [{name: me, user: {token: t}}]}`, server.URL)
	testutil.Must(t, os.WriteFile(c.kubeconfig, []byte(text), 0o600))
	return c
}

func writeStatus(w http.ResponseWriter, code int, reason, message string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
		"details": map[string]any{"kind": "x", "name": "x"},
	})
}

func listOfDeployments(items ...any) map[string]any {
	return map[string]any{
		"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": map[string]any{}, "items": append([]any{}, items...),
	}
}

// stackList and mapList are the responses to list requests.
func stackList(items ...any) map[string]any {
	return map[string]any{
		"kind": "LlamaStackDistributionList", "apiVersion": "llamastack.io/v1alpha2", "metadata": map[string]any{},
		"items": append([]any{}, items...),
	}
}

func mapList(items ...any) map[string]any {
	return map[string]any{
		"kind": "ConfigMapList", "apiVersion": "v1", "metadata": map[string]any{},
		"items": append([]any{}, items...),
	}
}

// run runs a command against the cluster, and checks that the command stores nothing and does not read any Secret.
func (c *liveCluster) run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	c.requests = nil
	got := run(t, stdin, append(args, "--kubeconfig", c.kubeconfig)...)
	for _, request := range c.requests {
		stores := !strings.HasPrefix(request, "GET ") && !strings.HasPrefix(request, dryRun)
		if stores || strings.Contains(request, "secrets") {
			t.Errorf("the command sends a write request, or reads a Secret: %s", request)
		}
	}
	return got
}

// liveObject parses a manifest, and sets the namespace, the UID and the generation.
func liveObject(t *testing.T, manifest string) map[string]any {
	t.Helper()
	var found map[string]any
	testutil.Must(t, yaml.Unmarshal([]byte(manifest), &found))
	metadata := found["metadata"].(map[string]any)
	metadata["namespace"], metadata["uid"], metadata["generation"] = "team-a", "1-2", 3
	return found
}

// deploy serves a stack, and its Deployment and ConfigMaps as the operator renders them.
func (c *liveCluster) deploy(t *testing.T, manifest string) map[string]any {
	t.Helper()
	live := liveObject(t, manifest)
	c.objects[demo] = live
	rendered := run(t, manifest, "render", "-f", "-", "-o", "all", "-n", "team-a")
	rendered.mustExit(t, 0)
	for _, text := range strings.Split(rendered.out, "---\n")[1:] {
		var child unstructured.Unstructured
		testutil.Must(t, yaml.Unmarshal([]byte(text), &child.Object))
		switch child.GetKind() {
		case "Deployment":
			child.Object["status"] = map[string]any{"availableReplicas": 1}
			c.objects[deployment] = child.Object
		case "ConfigMap":
			c.objects[mapsOfA+child.GetName()] = child.Object
		}
	}
	return live
}

const liveSpec = `{distribution: {name: starter}, resources: {models: [m]}, workload: {storage: {}}, ` +
	`providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`

func edit(from, to string) string { return stack(strings.Replace(liveSpec, from, to, 1)) }

func TestDiffLive(t *testing.T) {
	c := newLiveCluster(t)
	c.deploy(t, stack(liveSpec))
	same := c.run(t, stack(liveSpec), "diff", "-f", "-")
	same.exits(t, 0, "same manifest")
	contains(t, same.out, "team-a/demo (standard input): no difference\n")

	changed := c.run(t, edit("[m]", "[m, fast]"), "diff", "-f", "-")
	changed.exits(t, 1)
	contains(t, changed.out, "pods: restart", "the configuration changes", "a preflight runs", "+ model fast: vllm/fast",
		"(spec.resources.models[1])")

	moved := c.run(t, edit("storage: {}", "storage: {mountPath: /data}"), "diff", "-f", "-")
	contains(t, moved.out, "! spec.workload.storage.mountPath: ")

	c.objects[deployment].(map[string]any)["status"] = map[string]any{}
	idle := c.run(t, edit("[m]", "[m, fast]"), "diff", "-f", "-")
	contains(t, idle.out, "the operator does not run a preflight (it does not test the change in a separate pod first): no pod serves requests, "+
		"so a failed change causes no outage")

	fresh := c.run(t, strings.Replace(stack(liveSpec), "name: demo", "name: another", 1), "diff", "-f", "-")
	fresh.exits(t, 1, "new stack")
	contains(t, fresh.out, "team-a/another (standard input): new: the stack does not exist yet", "+ Deployment/another")

	other := c.run(t, stack(liveSpec), "diff", "-f", "-", "-n", "team-b")
	contains(t, other.out, "team-b/demo (standard input): new")
}

// The claim in the cluster counts, not the stored spec.
// The operator creates a Route on OpenShift, and does not set the user of the pods.
func TestDiffLiveOnOpenShift(t *testing.T) {
	c := newLiveCluster(t)
	for group, kind := range map[string]string{
		"security.openshift.io": "SecurityContextConstraints", "route.openshift.io": "Route",
	} {
		c.objects["/apis/"+group+"/v1"] = map[string]any{
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group + "/v1",
			"resources": []any{map[string]any{"name": strings.ToLower(kind) + "s", "kind": kind}},
		}
	}
	exposed := edit("storage: {}}", "storage: {}}, networking: {expose: {}}")
	got := c.run(t, exposed, "diff", "-f", "-")
	contains(t, got.out, "+ Route/demo-route")
	if strings.Contains(got.out, "Ingress") || strings.Contains(got.err, "error: ") {
		t.Errorf("the operator creates no Ingress on OpenShift:\n%s%s", got.out, got.err)
	}
	var sent string
	for _, request := range c.requests {
		if strings.HasPrefix(request, dryRun) {
			sent += request + "\n"
		}
	}
	contains(t, sent, "/apis/route.openshift.io/v1/namespaces/team-a/routes")
	contains(t, newLiveCluster(t).run(t, exposed, "diff", "-f", "-").out, "+ Ingress/demo")
}

func TestDiffLiveVolume(t *testing.T) {
	c := newLiveCluster(t)
	c.deploy(t, edit("storage: {}", "storage: {size: 30Gi}"))
	claim := liveObject(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: demo-pvc}, spec: {accessModes: [ReadWriteOnce],
  storageClassName: slow, volumeName: v, resources: {requests: {storage: 20Gi}}}, status: {capacity: {storage: 20Gi}}}`)
	c.objects["/api/v1/namespaces/team-a/persistentvolumeclaims/demo-pvc"] = claim
	for storage, want := range map[string]string{
		"size: 20Gi": "", "storageClassName: slow": "",
		"size: 5Gi":              `error: standard input: demo: spec.workload.storage.size: 5Gi is less than the 20Gi`,
		"storageClassName: fast": `PersistentVolumeClaim "demo-pvc" has storage class "slow", not "fast"`,
	} {
		got := c.run(t, edit("storage: {}", "storage: {"+storage+"}"), "diff", "-f", "-")
		contains(t, got.err, want)
		if refused := got.code == 2; refused != (want != "") {
			t.Errorf("%s: exit code %d\n%s", storage, got.code, got.err)
		}
	}
}

// The operator keeps the image and the base of a running stack.
func TestDiffLiveKeepsImageAndBase(t *testing.T) {
	c := newLiveCluster(t)
	live := c.deploy(t, stack(liveSpec))
	const image = "docker.io/ogxai/distribution-starter:0.7.0"
	live["status"] = map[string]any{"resolvedDistribution": map[string]any{
		"name": "starter", "image": image, "imageFrom": "catalogue",
	}}
	running := c.objects[deployment].(map[string]any)
	annotations := running["metadata"].(map[string]any)["annotations"].(map[string]any)
	var record map[string]any
	testutil.Must(t, json.Unmarshal([]byte(annotations["llamastack.io/rendered"].(string)), &record))
	record["distribution"].(map[string]any)["image"] = image
	kept := c.objects[mapsOfA+record["baseConfigMap"].(string)]
	c.objects[mapsOfA+"demo-base-kept"], record["baseConfigMap"], record["base"] = kept, "demo-base-kept", "another"
	data, err := json.Marshal(record)
	testutil.Must(t, err)
	annotations["llamastack.io/rendered"] = string(data)
	base := kept.(map[string]any)["data"].(map[string]any)
	base["base.yaml"] = strings.Replace(base["base.yaml"].(string), "apis:", "a_key_of_the_kept_base: 1\napis:", 1)

	same := c.run(t, stack(liveSpec), "diff", "-f", "-")
	same.exits(t, 0)
	moved := c.run(t, edit("name: starter", `name: starter, version: "0.8"`), "diff", "-f", "-")
	contains(t, moved.out, "the image changes from "+image+" to docker.io/ogxai/distribution-starter:0.8", "- a_key_of_the_kept_base: <redacted>  (base)")

	c.objects[stacksOfA], c.objects[deploymentsOfA] = stackList(live), listOfDeployments(running)
	for _, args := range [][]string{{"demo"}, nil} {
		checked := c.run(t, "", append([]string{"upgrade-check", "--to", "0.8", "--all"}, args...)...)
		contains(t, checked.out, "~ image: "+image+" -> docker.io/ogxai/distribution-starter:0.8", "a_key_of_the_kept_base")
	}
}

// A stack whose host name another stack has is not exposed, and a reserved name belongs to another stack.
func TestDiffLiveHostName(t *testing.T) {
	c := newLiveCluster(t)
	expose := func(host string) string {
		return edit("storage: {}}", "storage: {}}, networking: {expose: {hostname: "+host+"}}")
	}
	other := liveObject(t, strings.Replace(expose("llama.example.com"), "name: demo", "name: other", 1))
	other["metadata"].(map[string]any)["uid"] = "other"
	other["status"] = map[string]any{"routeURL": "http://llama.example.com"}
	c.objects[allStacks] = stackList(other)
	taken := c.run(t, expose("llama.example.com"), "diff", "-f", "-")
	contains(t, taken.err, `spec.networking.expose: host name "llama.example.com" is taken by stack "other", so the server is not exposed`)
	if strings.Contains(taken.out, "Ingress") {
		t.Errorf("an Ingress is created:\n%s", taken.out)
	}
	contains(t, c.run(t, expose("mine.example.com"), "diff", "-f", "-").out, "+ Ingress/demo")
	c.objects[stacksOfA], c.forbidden = stackList(), []string{allStacks}
	contains(t, c.run(t, expose("llama.example.com"), "diff", "-f", "-").out,
		"+ Ingress/demo", "? the host names of other stacks: you cannot list the stacks in all namespaces")
}

// The images in the variables of the operator replace those of the catalog.
func TestDiffLiveRelatedImages(t *testing.T) {
	c := newLiveCluster(t)
	c.objects[operatorDeployments] = listOfDeployments(liveObject(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator},
  spec: {template: {spec: {containers: [{name: manager,
    env: [{name: RELATED_IMAGE_STARTER, value: "mirror.example.com/starter:1"}]}]}}}}`))
	contains(t, c.run(t, stack(liveSpec), "diff", "-f", "-", "-o", "diff").out, "image: mirror.example.com/starter:1")
}

// Like kubectl apply, diff removes a field that the last applied manifest sets and the new manifest does not set. It
// keeps fields that other clients set.
func TestDiffLiveMerges(t *testing.T) {
	c := newLiveCluster(t)
	live := c.deploy(t, edit("storage: {}", "storage: {}, replicas: 0, workers: 2"))
	applied, err := json.Marshal(liveObject(t, edit("storage: {}", "storage: {}, workers: 2")))
	testutil.Must(t, err)
	live["metadata"].(map[string]any)["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(applied)}
	got := c.run(t, stack(liveSpec), "diff", "-f", "-")
	contains(t, got.out, "the number of workers changes from 2 to 1", "the stack is scaled to zero")
}

// A cluster keeps a stack with a name that a new stack cannot have.
func TestDiffLiveWithNamesOfTheOperator(t *testing.T) {
	const own = "storage: {}, overrides: {volumes: [{name: lls-storage, emptyDir: {}}]}"
	c := newLiveCluster(t)
	c.deploy(t, stack(liveSpec))
	c.objects[demo] = liveObject(t, edit("storage: {}", own))
	changed := c.run(t, strings.Replace(edit("storage: {}", own), "[m]", "[m, fast]", 1), "diff", "-f", "-")
	contains(t, changed.out, "+ model fast: vllm/fast")
	changed.exits(t, 1)
	mistaken := c.run(t, strings.Replace(edit("storage: {}", own), "lls-storage", "user-config", 1), "diff", "-f", "-")
	mistaken.exits(t, 2, "another name")
	c.fleet(t, map[string]string{"boots": strings.Replace(liveSpec, "storage: {}", own, 1)})
	c.run(t, "", "upgrade-check", "--to", "1.5", "-A").exits(t, 0)
}

// TestDiffLiveForeignConfig checks that a command does not use a ConfigMap that anyone can create in a namespace of
// their own as the operator's.
func TestDiffLiveForeignConfig(t *testing.T) {
	in := func(namespace string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"name": "llama-stack-operator-config", "namespace": namespace},
			"data":     map[string]any{"image-overrides": "starter: example.com/" + namespace + ":0.8"},
		}
	}
	calls := map[string]any{"clientConfig": map[string]any{"service": map[string]any{"namespace": "ops", "name": "a"}}}
	webhook := map[string]any{"spec": map[string]any{
		"conversion": map[string]any{"strategy": "Webhook", "webhook": calls},
	}}
	for name, tc := range map[string]struct {
		maps       map[string]any
		definition any
		want       string
	}{
		"usual namespace":            {mapList(in("attacker"), in("llama-stack-k8s-operator-system")), nil, "image: example.com/llama-stack-k8s-operator-system:0.8"},
		"namespace of the webhook":   {mapList(in("attacker"), in("ops")), webhook, "image: example.com/ops:0.8"},
		"only a foreign one":         {mapList(in("attacker")), webhook, "image: docker.io/"},
		"no usual namespace":         {mapList(in("ops")), nil, "image: example.com/ops:0.8"},
		"it may be a foreign one":    {mapList(in("ops")), nil, `? the operator's ConfigMap llama-stack-operator-config: this command uses the only one, in namespace "ops"`},
		"several unusual namespaces": {mapList(in("attacker"), in("ops")), nil, "? the operator's ConfigMap llama-stack-operator-config: several namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newLiveCluster(t)
			c.objects[allMaps], c.objects["/apis/apps/v1/namespaces/ops/deployments"] = tc.maps, listOfDeployments()
			if tc.definition != nil {
				c.objects[pathOfDefinition] = tc.definition
			}
			got := c.run(t, stack(liveSpec), "diff", "-f", "-").out
			got += c.run(t, stack(liveSpec), "diff", "-f", "-", "-o", "diff").out
			contains(t, got, tc.want)
			if strings.Contains(got, "attacker") {
				t.Errorf("the foreign ConfigMap is used:\n%s", got)
			}
		})
	}
}

func TestDiffLiveBadCases(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(*liveCluster, map[string]any)
		code    int
		want    string
	}{
		"no right to read the stack": {
			func(c *liveCluster, _ map[string]any) { c.forbidden = []string{"llamastackdistributions"} },
			2, "you cannot get llamastackdistributions.llamastack.io in namespace \"team-a\"",
		},
		"no right to read Deployments": {
			func(c *liveCluster, _ map[string]any) { c.forbidden = []string{"deployments"} },
			1, `? you cannot get deployments.apps in namespace "team-a"`,
		},
		"no right to find the operator's ConfigMap": {
			func(c *liveCluster, _ map[string]any) { c.forbidden = []string{allMaps} }, 1, "? the operator's ConfigMap llama-stack-operator-config: you cannot list ConfigMaps in all namespaces",
		},
		"stack that is being deleted": {
			func(_ *liveCluster, live map[string]any) {
				live["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
			}, 1, "! the stack and its objects are being deleted",
		},
		"Deployment of another operator": {
			func(c *liveCluster, _ map[string]any) {
				delete(c.objects[deployment].(map[string]any)["metadata"].(map[string]any), "annotations")
			}, 1, `? Deployment "demo" has no record from this operator`,
		},
		"v1alpha1 only": {
			func(c *liveCluster, live map[string]any) {
				c.unserved = []string{"llamastack.io/v1alpha2"}
				delete(c.objects, demo)
				c.objects[strings.Replace(demo, "v1alpha2", "v1alpha1", 1)] = map[string]any{
					"apiVersion": "llamastack.io/v1alpha1", "kind": "LlamaStackDistribution", "metadata": live["metadata"],
					"spec": map[string]any{"server": map[string]any{"distribution": map[string]any{"name": "starter"}}},
				}
			}, 1, "changes, and the pods restart",
		},
		"no definition": {
			func(c *liveCluster, _ map[string]any) {
				c.unserved = []string{"llamastack.io"}
				delete(c.objects, demo)
			}, 2, "the cluster does not serve llamastackdistributions.llamastack.io; install the operator",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newLiveCluster(t)
			tc.prepare(c, c.deploy(t, stack(liveSpec)))
			got := c.run(t, edit("[m]", "[m, fast]"), "diff", "-f", "-")
			got.exits(t, tc.code)
			contains(t, got.out+got.err, tc.want)
		})
	}
}
