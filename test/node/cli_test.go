//go:build node

package node

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
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
	if want := "hello from the model\n"; first+string(rest) != want || err != nil {
		u.t.Errorf("the answer is %q (%v), want %q", first+string(rest), err, want)
	}
	if first == "" || len(rest) < len("the model") {
		u.t.Errorf("the answer is not streamed: %q arrives first, and then %q", first, rest)
	}
	u.says("kubectl llamastack chat my", "vllm/llama3.2-8b  llm   vllm")
	contains(u.t, "chat", u.ends(1, "kubectl llamastack chat my --model vllm/llama3.2-9b hello"), `did you mean "vllm/llama3.2-8b"?`)
}

// looks runs the read-only subcommands whose results come from the node and the installation. The tests of internal/cli
// run the others.
func (u *user) looks() {
	u.t.Helper()
	u.says("kubectl llamastack logs my --tail 5", "standin: listening on", "the only pod")
	// A user with permissions in only one namespace cannot check the installation, but can see that the stack is Ready.
	u.says("kubectl llamastack doctor", "ok       stacks", "stacks that are Ready: 1 of 1")
	said, err := kubectl(u.t.Context(), nil, "config", "view", "--raw", "--minify", "--flatten")
	if err != nil {
		u.t.Fatal(err)
	}
	u.write("admin", said)
	u.says("kubectl llamastack doctor --kubeconfig admin -n "+u.namespace, "2 ready pods", "the operator has the permissions that it needs",
		"the admission policy is active", "the operator and this command have version "+operatorTag)
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

// changes previews an edit that restarts the pods, and applies it.
func (u *user) changes() {
	u.t.Helper()
	u.says("kubectl llamastack diff -f stack.yaml", "no difference")

	u.edited("stack.yaml", "edit.yaml", "      - llama3.2-8b\n", "      - llama3.2-8b\n      - llama3.2-70b\n"+
		"    tools:\n      - {name: tickets, mcpEndpoint: \"http://tickets:8080/mcp\"}\n")
	contains(u.t, "diff", u.ends(1, "kubectl llamastack diff -f edit.yaml"), "the pods restart", "a preflight runs",
		"data: the server continues to use all of it", "+ model llama3.2-70b: vllm/llama3.2-70b", "Deployment/my\n")
	before := u.onePod("my").UID
	u.says("kubectl apply -f edit.yaml", "configured")
	u.says("kubectl llamastack status my", "LlamaStackDistribution "+u.namespace+"/my: ")
	u.allReady("my", 1, string(before))
	u.ready("my")
	// The operator sends requests to the server only after the earlier pod is gone.
	u.until("my", func(found *v1alpha2.LlamaStackDistribution) error {
		if len(found.Status.MCPServers) != 1 {
			return fmt.Errorf("MCP servers %v", found.Status.MCPServers)
		}
		return nil
	})
	u.says("kubectl llamastack status my", "vllm/llama3.2-8b (llm)", "vllm/llama3.2-70b (llm)", "1 MCP server\n",
		"tickets",
		"✓ The stack is ready")
	u.says("kubectl llamastack diff -f edit.yaml", "no difference")
}
