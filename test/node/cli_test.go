//go:build node

package node

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/forward"
)

// The test uses the command line for each step from the manifest to an answer, as a user with permissions in only one
// namespace. The user writes a stack, applies it, and finds out why it does not start. The user then sends a chat
// request to a model, previews a change, applies it, and watches its effect.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.modelsWith("vllm", canary, "{name: VLLM_PAUSE, value: 300ms}", "llama3.2-8b", "llama3.2-70b")
	u := s.user()

	u.says("kubectl llamastack init my --provider vllm --endpoint http://vllm:8000 --secret creds/token --model llama3.2-8b "+
		"--volume-size 1Gi -o stack.yaml", "kubectl create secret generic creds --from-file=token=token.txt")
	u.edited("stack.yaml", "stack.yaml", "  workload:\n", "  workload:\n    resources: "+small+"\n")
	u.says("kubectl llamastack validate -f stack.yaml", "ok: stack.yaml: my")
	u.says("kubectl apply -f stack.yaml", "created")

	s.condition("my", v1alpha2.ConditionReady, v1alpha2.ReasonSecretNotFound)
	u.says("kubectl llamastack status my", `Secret "creds"`, "Next: kubectl get secrets")
	u.ends(1, "kubectl llamastack chat my hello")
	u.write("token", canary)
	u.says("kubectl create secret generic creds --from-file=token=token", "created")
	u.says("kubectl wait --for=condition=Ready --timeout=180s llsd/my", "condition met")
	s.serverVersion("my", defaultRelease)
	u.says("kubectl llamastack status my", "✓ Deployment my: 1 of 1 pod can serve requests", "release "+defaultRelease,
		"vllm/llama3.2-8b (llm)", "✓ PersistentVolumeClaim my-pvc: Bound", "✓ The stack is ready: the server is available at http://my-service.")
	u.says("kubectl llamastack status", "1 of 1 stack ready.")

	u.answers()
	u.looks()
	u.opens()
	u.forwards()
	u.bundles()
	u.changes()
}

// answers sends a chat request to a model, and checks that the answer does not arrive all at once.
func (u *user) answers() {
	u.t.Helper()
	const line = "kubectl llamastack chat my What is a llama?"
	command := u.command(u.t.Context(), line)
	var problem strings.Builder
	command.Stderr = &problem
	stdout, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		u.t.Fatal(err)
	}
	buffer := make([]byte, 1024)
	n, _ := stdout.Read(buffer)
	first := string(buffer[:n])
	rest, err := io.ReadAll(stdout)
	if err := command.Wait(); err != nil {
		log, _ := kubectl(u.t.Context(), nil, "logs", "--namespace="+u.namespace, "--selector=app=llama-stack")
		u.t.Errorf("%s: %v: %s\n%s", line, err, &problem, log)
	}
	u.record(line, first+string(rest))
	if want := "hello from the model\n"; first+string(rest) != want || err != nil {
		u.t.Errorf("the answer is %q (%v), want %q", first+string(rest), err, want)
	}
	if first == "" || len(rest) < len("the model") {
		u.t.Errorf("the answer is not streamed: %q arrives first, and then %q", first, rest)
	}
	u.says("kubectl llamastack chat my", "vllm/llama3.2-8b  llm   vllm")
	contains(u.t, "chat", u.ends(1, "kubectl llamastack chat my --model vllm/llama3.2-9b hello"), `did you mean "vllm/llama3.2-8b"?`)
}

// looks runs the read-only subcommands.
func (u *user) looks() {
	u.t.Helper()
	u.says("kubectl llamastack models my", "vllm/llama3.2-8b  llm   vllm      llama3.2-8b")
	u.says("kubectl llamastack models my --live", "vllm/llama3.2-8b  llm   vllm")
	u.says("kubectl llamastack events my", "Deployment/my ", "Scheduled", "DeploymentUpdated")
	u.says("kubectl llamastack logs my --tail 5", "standin: listening on", "the only pod")
	// A user with permissions in only one namespace cannot check the installation, but can see that the stack is Ready.
	u.says("kubectl llamastack doctor", "ok       stacks", "stacks that are Ready: 1 of 1")
	u.says("kubectl llamastack version", "Operator:      not known",
		"Stacks:        1 with operator version "+operatorTag+" in the status")
	said, err := kubectl(u.t.Context(), nil, "config", "view", "--raw", "--minify", "--flatten")
	if err != nil {
		u.t.Fatal(err)
	}
	u.write("admin", said)
	u.says("kubectl llamastack doctor --kubeconfig admin -n "+u.namespace, "2 ready pods", "the operator has the permissions that it needs",
		"the admission policy is active", "the operator and this command have version "+operatorTag)
	u.says("kubectl llamastack version --kubeconfig admin", "Operator:      "+operatorTag+" in llama-stack-k8s-operator-system/")
}

// opens forwards a port until the user stops the command.
func (u *user) opens() {
	u.t.Helper()
	u.says("kubectl llamastack open my --print-only", "http://my-service."+u.namespace+".svc")
	const line = "kubectl llamastack open my"
	command := u.command(u.t.Context(), line)
	stdout, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		u.t.Fatal(err)
	}
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		u.t.Fatalf("%s prints no URL: %v", line, err)
	}
	u.record(line, url)
	client := http.Client{Timeout: time.Minute}
	response, err := client.Get(strings.TrimSpace(url) + "/v1/models")
	if err != nil {
		u.t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), "vllm/llama3.2-8b") {
		u.t.Errorf("the forwarded port answers %q (%v)", body, err)
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		u.t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		u.t.Errorf("%s after Ctrl-C: %v", line, err)
	}
}

// forwards checks that the API server forwards the port through a WebSocket, as in Kubernetes 1.31 and later.
func (u *user) forwards() {
	u.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(u.folder, "kubeconfig"))
	if err != nil {
		u.t.Fatal(err)
	}
	session, err := forward.Open(u.t.Context(), config, u.onePod("my"), 0, 8321)
	if err != nil {
		u.t.Fatal(err)
	}
	defer session.Close()
	if session.SPDY {
		u.t.Error("the API server forwards the port with SPDY")
	}
}

// bundles writes the archive for a support case, and checks that the archive contains the objects and no secret value.
func (u *user) bundles() {
	u.t.Helper()
	u.says("kubectl llamastack support-bundle my --server-logs -o support.tar.gz", "ok: support.tar.gz has ")
	file, err := os.Open(filepath.Join(u.folder, "support.tar.gz"))
	if err != nil {
		u.t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		u.t.Fatal(err)
	}
	found := map[string]bool{}
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		content, readErr := io.ReadAll(archive)
		if err != nil || readErr != nil {
			u.t.Fatal(err, readErr)
		}
		if strings.Contains(string(content), canary) {
			u.t.Errorf("the file %s contains the token:\n%s", header.Name, content)
		}
		found[header.Name] = true
	}
	for _, want := range []string{
		"LlamaStackDistribution/my.yaml", "Deployment/my.yaml", "Secret/creds.yaml", "events.yaml",
	} {
		if name := "llamastack-support/namespaces/" + u.namespace + "/" + want; !found[name] {
			u.t.Errorf("the archive does not contain %s: %v", name, found)
		}
	}
}

// changes previews two edits, and applies the edit that restarts the pods.
func (u *user) changes() {
	u.t.Helper()
	u.says("kubectl llamastack diff -f stack.yaml", "no difference")
	u.edited("stack.yaml", "service.yaml", "  workload:\n",
		"  networking:\n    expose: {hostname: "+u.namespace+".example.com}\n  workload:\n")
	contains(u.t, "diff", u.ends(1, "kubectl llamastack diff -f service.yaml"),
		"the pods are not replaced", "+ Ingress/my-ingress")

	u.edited("stack.yaml", "edit.yaml", "      - llama3.2-8b\n", "      - llama3.2-8b\n      - llama3.2-70b\n"+
		"    tools:\n      - {name: tickets, mcpEndpoint: \"http://tickets:8080/mcp\"}\n")
	contains(u.t, "diff", u.ends(1, "kubectl llamastack diff -f edit.yaml"), "the pods restart", "a preflight runs",
		"data: the server continues to use all of it", "+ model llama3.2-70b: vllm/llama3.2-70b", "Deployment/my\n")
	before := u.onePod("my").UID
	u.says("kubectl apply -f edit.yaml", "configured")
	u.says("kubectl llamastack status my", "LlamaStackDistribution "+u.namespace+"/my: ")
	u.eventually(func() error {
		if pods, err := u.pods("my"); err != nil || len(pods) != 1 || pods[0].UID == before {
			return fmt.Errorf("the pod %s is not replaced (%w)", before, err)
		}
		return nil
	})
	u.ready("my")
	u.eventually(func() error { // the operator sends requests to the server only after the earlier pod is gone
		stack := &v1alpha2.LlamaStackDistribution{}
		err := u.get("my", stack)
		if err == nil && len(stack.Status.MCPServers) != 1 {
			err = fmt.Errorf("MCP servers %v", stack.Status.MCPServers)
		}
		return err
	})
	u.says("kubectl llamastack status my", "vllm/llama3.2-8b (llm)", "vllm/llama3.2-70b (llm)", "1 MCP server\n",
		"tickets",
		"✓ The stack is ready")
	u.says("kubectl llamastack diff -f edit.yaml", "no difference")
}
