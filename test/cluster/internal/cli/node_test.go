//go:build node

package cli

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/cgroup"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/controlplane"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// trace contains the part of the machine's state that a node could change, and the state that a running node adds.
type trace struct {
	namespace string // the namespace of process IDs
	mounts    int    // the number of mounts in the namespace of the test
	sysctls   map[string]string
}

// machineSysctls lists the sysctls that a kubelet sets for the whole machine.
var machineSysctls = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
	"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// look records the part of the machine's state that must not change. It runs before a node is started.
func look(t *testing.T) trace {
	t.Helper()
	was := trace{mounts: mounts(t), sysctls: map[string]string{}}
	for _, name := range machineSysctls {
		was.sysctls[name] = readFile(t, filepath.Join("/proc/sys", name))
	}
	return was
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func mounts(t *testing.T) int {
	t.Helper()
	return strings.Count(readFile(t, "/proc/self/mountinfo"), "\n")
}

// namespaceOf returns the PID namespace of the node's processes.
func (c tool) namespaceOf(t *testing.T) string {
	t.Helper()
	for _, component := range c.record(t).Components {
		if component.Name == controlplane.NodeProcess {
			name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", component.Process.PID))
			if err != nil {
				t.Fatal(err)
			}
			return name
		}
	}
	t.Fatal("the record does not contain a node")
	return ""
}

// inNamespace returns the processes in a namespace.
func inNamespace(t *testing.T, namespace string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(links, func(link string) bool {
		name, err := os.Readlink(link)
		return err != nil || name != namespace
	})
}

// expectNoTrace checks that no processes, links, mounts or routes of a node remain after it has ended, and that the
// machine's sysctls have not changed.
func (c tool) expectNoTrace(t *testing.T, was trace, link string) {
	t.Helper()
	eventually(t, "every process of the node ends", func() bool { return len(inNamespace(t, was.namespace)) == 0 })
	eventually(t, "the link is removed", func() bool { _, err := net.InterfaceByName(link); return err != nil })
	if now := mounts(t); now != was.mounts {
		t.Errorf("%d mounts exist, want %d as before the test", now, was.mounts)
	}
	for name, value := range was.sysctls {
		if now := readFile(t, filepath.Join("/proc/sys", name)); now != value {
			t.Errorf("sysctl %s is %q, was %q", name, now, value)
		}
	}
	if routes := readFile(t, "/proc/net/route"); strings.Contains(routes, link) {
		t.Errorf("routes over %s still exist:\n%s", link, routes)
	}
}

// groups returns the node's control groups in every hierarchy.
func (c tool) groups(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("/sys/fs/cgroup/*" + cgroup.Of(c.dir).Name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// link returns the name of the machine's end of the node's link.
func (c tool) link(t *testing.T) string {
	t.Helper()
	host, _, err := net.SplitHostPort(c.record(t).Registry)
	if err != nil {
		t.Fatal(err)
	}
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		addresses, err := one.Addrs()
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range addresses {
			if strings.HasPrefix(address.String(), host+"/") {
				return one.Name
			}
		}
	}
	t.Fatalf("no interface has the address %s", host)
	return ""
}

// upWithNode starts a cluster with a node, and records the state that expectNoTrace checks.
func (c tool) upWithNode(t *testing.T) (was trace, link string) {
	t.Helper()
	was = look(t)
	c.must(t, "up", "--node")
	was.namespace = c.namespaceOf(t)
	return was, c.link(t)
}

// apply creates objects. It replaces $REGISTRY with the cluster's registry.
func (c tool) apply(t *testing.T, manifest string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	text := strings.ReplaceAll(manifest, "$REGISTRY", c.record(t).Registry)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ask(t, "apply", "--filename="+file)
}

// ask runs kubectl, which must succeed.
func (c tool) ask(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.kubectl(t, args...)
	if err != nil {
		t.Fatalf("kubectl %v: %v", args, err)
	}
	return strings.TrimSpace(out)
}

// prober contains a Deployment of the web server and a Service for the Deployment.
const prober = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: web
        image: $REGISTRY/prober:1
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
        resources: {requests: {cpu: 10m}}
        securityContext:
          runAsNonRoot: true
          readOnlyRootFilesystem: true
          allowPrivilegeEscalation: false
          capabilities: {drop: [ALL]}
          seccompProfile: {type: RuntimeDefault}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
`

// TestNodeRunsPods tests the life cycle of a cluster with a node, and the features that pods can use.
func TestNodeRunsPods(t *testing.T) {
	c := newTool(t)
	was, link := c.upWithNode(t)
	c.apply(t, prober)
	c.ask(t, "rollout", "status", "deployment/web", "--timeout=4m")
	pod := strings.Fields(c.ask(t, "get", "pods", "--selector=app=web", "--output=name"))[0]
	exec := func(args ...string) (string, error) {
		return c.kubectl(t, append([]string{"exec", pod, "--", "/prober"}, args...)...)
	}

	t.Run("a name resolves", func(t *testing.T) {
		address := c.ask(t, "get", "service", "web", "--output=jsonpath={.spec.clusterIP}")
		for _, name := range []string{"web", "web.default.svc.cluster.local"} {
			if out, err := exec("lookup", name); err != nil || strings.TrimSpace(out) != address {
				t.Errorf("%s is %q (%v), want %s", name, out, err, address)
			}
		}
	})
	t.Run("a Service reaches every pod", func(t *testing.T) {
		answered := map[string]bool{}
		eventually(t, "both pods answer", func() bool {
			if out, err := exec("get", "http://web/"); err == nil {
				answered[out] = true
			}
			return len(answered) == 2
		})
	})
	t.Run("a pod has logs", func(t *testing.T) {
		if out := c.ask(t, "logs", pod); out != "listening on :8080" {
			t.Errorf("the log is %q", out)
		}
	})
	t.Run("the group of a volume is the fsGroup of its pod", func(t *testing.T) { c.expectVolumes(t) })
	t.Run("a policy restricts connections", func(t *testing.T) { c.expectPolicies(t, pod) })
	t.Run("a pod's load is measured", func(t *testing.T) {
		eventually(t, "the pod has metrics", func() bool {
			name := strings.TrimPrefix(pod, "pod/")
			out, err := c.kubectl(t, "top", "pod", name)
			return err == nil && strings.Contains(out, name)
		})
	})
	t.Run("an autoscaler follows the load", func(t *testing.T) {
		c.ask(t, "autoscale", "deployment", "web", "--cpu-percent=50", "--min=2", "--max=3")
		eventually(t, "the autoscaler requests a third pod", func() bool {
			_, _ = exec("get", "http://web/burn") // the answer is not relevant, because the request only causes load
			return c.ask(t, "get", "deployment", "web", "--output=jsonpath={.spec.replicas}") == "3"
		})
	})
	t.Run("a missing image", func(t *testing.T) {
		c.ask(t, "run", "absent", "--image="+c.record(t).Registry+"/absent:1")
		eventually(t, "the pod reports the missing image", func() bool {
			reason := c.ask(t, "get", "pod", "absent", "--output=jsonpath={.status.containerStatuses[0].state.waiting.reason}")
			return reason == "ImagePullBackOff"
		})
	})

	t.Run("another cluster runs and ends", func(t *testing.T) { c.expectNeighbor(t) })

	c.must(t, "down")
	c.expectNoTrace(t, was, link)
	if left := c.groups(t); len(left) > 0 {
		t.Errorf("control groups still exist: %q", left)
	}
}

// expectNeighbor runs another cluster with a node. The command in that cluster must get the address of its own
// registry. The pods of the first cluster must not be affected.
func (c tool) expectNeighbor(t *testing.T) {
	t.Helper()
	const identities = "--output=jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount} {.status.phase}{end}"
	before := c.ask(t, "get", "pods", "--selector=app=web", identities)
	other := newTool(t)
	out := other.must(t, "run", "--node", "--", "sh", "-c", "echo $CLUSTER_REGISTRY; kubectl get nodes --output=name")
	address, node, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if _, _, err := net.SplitHostPort(address); err != nil || node != "node/node-1" {
		t.Errorf("the command prints %q", out)
	}
	if address == c.record(t).Registry { // the registry has the address of the link
		t.Errorf("both clusters use the registry %s", address)
	}
	if _, err := state.Read(other.dir); err == nil {
		t.Error("the other cluster still exists")
	}
	if after := c.ask(t, "get", "pods", "--selector=app=web", identities); after != before {
		t.Errorf("the pods were %q before, and are %q now", before, after)
	}
	c.must(t, "status")
}

// writer is a pod that can write to its volume only because of its fsGroup.
const writer = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: writer}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {runAsUser: 1001, runAsGroup: 1001, runAsNonRoot: true, fsGroup: 2000}
  containers: [{name: writer, image: $REGISTRY/prober:1, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`

// expectVolumes tests a volume, from its creation for a claim to its removal.
func (c tool) expectVolumes(t *testing.T) {
	t.Helper()
	c.apply(t, writer)
	c.ask(t, "wait", "--for=condition=Ready", "pod/writer", "--timeout=4m")
	c.ask(t, "exec", "writer", "--", "/prober", "write", "/data/file", "kept")
	c.ask(t, "delete", "pod", "writer")
	c.apply(t, writer)
	c.ask(t, "wait", "--for=condition=Ready", "pod/writer", "--timeout=4m")
	if got := c.ask(t, "exec", "writer", "--", "/prober", "read", "/data/file"); got != "kept" {
		t.Errorf("the next pod reads %q", got)
	}
	c.ask(t, "delete", "pod/writer", "persistentvolumeclaim/data")
	eventually(t, "the folder of the volume is removed", func() bool {
		left, err := os.ReadDir(filepath.Join(c.dir, "node", "volumes"))
		return err == nil && len(left) == 0
	})
}

// guardPolicy contains a pod without the label role=friend, and a policy that allows connections only from pods with
// this label.
const guardPolicy = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: guard}
spec:
  podSelector: {matchLabels: {app: web}}
  policyTypes: [Ingress]
  ingress: [{from: [{podSelector: {matchLabels: {role: friend}}}], ports: [{port: 8080}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: client, image: $REGISTRY/prober:1}]}
`

// expectPolicies sends requests from another pod to the Service of the guarded pod. At first, the other pod does not
// have the label. Then expectPolicies adds the label. The guarded pod must remain ready.
func (c tool) expectPolicies(t *testing.T, guarded string) {
	t.Helper()
	c.apply(t, guardPolicy)
	c.ask(t, "wait", "--for=condition=Ready", "pod/client", "--timeout=4m")
	reached := func() bool {
		_, err := c.kubectl(t, "exec", "client", "--", "/prober", "get", "http://web/")
		return err == nil
	}
	eventually(t, "a pod without the label cannot connect", func() bool { return !reached() })
	c.ask(t, "label", "pod", "client", "role=friend")
	eventually(t, "a pod with the label connects", reached)
	if ready := c.ask(t, "get", guarded, "--output=jsonpath={.status.conditions[?(@.type=='Ready')].status}"); ready != "True" {
		t.Errorf("the node's own probes are blocked: Ready is %q", ready)
	}
	c.ask(t, "delete", "networkpolicy/guard", "pod/client")
}

// TestKernelRemovesNodeOfKilledProcess checks that the kernel removes the node if the supervisor is killed. Only empty
// control groups remain, and `down` removes them.
func TestKernelRemovesNodeOfKilledProcess(t *testing.T) {
	c := newTool(t)
	was, link := c.upWithNode(t)
	if len(c.groups(t)) == 0 {
		t.Error("the node has no control group; the test probably reads the wrong folders")
	}
	if err := c.record(t).Supervisor.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.expectNoTrace(t, was, link)
	c.must(t, "down")
	if left := c.groups(t); len(left) > 0 {
		t.Errorf("control groups still exist: %q", left)
	}
}

// TestNodeKilledWhileItStarts kills the launcher as soon as containerd starts, and checks that nothing remains.
func TestNodeKilledWhileItStarts(t *testing.T) {
	c := newTool(t)
	was := look(t)
	launcher := c.command(t.Context(), "up", "--node")
	var messages bytes.Buffer
	launcher.Stderr = &messages
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "containerd starts", func() bool {
		_, err := os.Stat(filepath.Join(c.dir, "log", "containerd.log"))
		return err == nil
	})
	was.namespace = c.namespaceOf(t)
	link := c.link(t)
	if err := launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait() // the error only reports that the process was killed
	c.expectNoTrace(t, was, link)
	c.expectNoProcess(t)
	eventually(t, "the state folder is removed", func() bool { _, err := os.Stat(c.dir); return os.IsNotExist(err) })
	if left := c.groups(t); len(left) > 0 {
		t.Errorf("control groups still exist: %q\n%s", left, &messages)
	}
}
