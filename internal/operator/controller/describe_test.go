package controller_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// described is the spec of a stack with a Secret and a volume, as `kubectl llamastack init` writes it.
const described = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000/v1", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [llama3.2-8b]}
workload: {storage: {size: 1Gi}}
`

// describedLines is the number of lines in the output of kubectl describe for a healthy stack, by field of the status.
// A condition takes six lines, a provider three, and a model two. The requirements list the conditions and most other
// fields, and kubectl describe prints a line for each field. The status of a stack therefore does not fit on one
// screen.
var describedLines = map[string]int{
	"Available Replicas": 1, "Conditions": 43, "Config Generation": 6, "Distribution Config": 6, "Models": 5,
	"Observed Generation": 1, "Phase": 1, "Replicas": 1, "Resolved Distribution": 8, "Selector": 1, "Service URL": 1,
	"Version": 4,
}

// TestDescribe checks the number of lines that kubectl describe prints about the status of a healthy stack. The server
// lists thirty providers, and the spec contains one of them.
func TestDescribe(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	server := env.StartServer(t, "0.7.1")
	unchecked := v1alpha2.ProviderHealthStatus{Status: v1alpha2.ProviderHealthNotImplemented}
	listed := []v1alpha2.ProviderInfo{
		{API: "inference", ProviderID: "vllm", ProviderType: "remote::vllm", Health: unchecked},
	}
	for i := range 29 {
		listed = append(listed, v1alpha2.ProviderInfo{
			API: "tools", ProviderID: fmt.Sprintf("p%d", i), ProviderType: "inline::p", Health: unchecked,
		})
	}
	providers, err := json.Marshal(map[string]any{"data": listed})
	if err != nil {
		t.Fatal(err)
	}
	server.Providers.Store(new(string(providers)))
	server.Models.Store(new(`{"data": [
		{"id": "vllm/llama3.2-8b", "custom_metadata": {"model_type": "llm", "provider_id": "vllm"}},
		{"id": "local/nomic", "custom_metadata": {"model_type": "embedding", "provider_id": "local"}}]}`))
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "t"))
	env.Workers = true
	env.StartReconciler(t, "described")
	env.CreateReadyStack(t, described)
	stack := &v1alpha2.LlamaStackDistribution{}
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", stack)
		if len(stack.Status.Models) != 2 {
			return fmt.Errorf("models %v", stack.Status.Models)
		}
		return nil
	})
	out, err := kubectl(t, env, "describe", "llsd", "my")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff(describedLines, linesOf(out, "Status")); diff != "" {
		t.Errorf("lines by field (-want +got):\n%s\n%s", diff, out)
	}
}

// linesOf returns the number of lines for each field in a section of the output of kubectl describe.
func linesOf(described, section string) map[string]int {
	lines, inside, field := map[string]int{}, false, ""
	for line := range strings.Lines(described) {
		name, _, isField := strings.Cut(strings.TrimSpace(line), ":")
		switch indent := len(line) - len(strings.TrimLeft(line, " ")); {
		case indent == 0:
			inside, field = isField && name == section, ""
			continue
		case indent == 2 && isField:
			field = name
		}
		if inside {
			lines[field]++
		}
	}
	return lines
}
