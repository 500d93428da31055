package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// vllmProviders returns a server's list of providers. The list contains values from the environment of the server, and
// only the value of api_token is masked.
func vllmProviders(status, canary string) string {
	return fmt.Sprintf(`{"data": [{"api": "inference", "provider_id": "vllm", "provider_type": "remote::vllm",
		"config": {"base_url": "http://u:%[2]s@vllm:8000/v1", "api_token": "********", "extra": %[2]q},
		"health": {"status": %[1]q, "message": "Error code: 401 - wrong key %[2]s"}}]}`, status, canary)
}

// waitForProviders waits until the status has the providers, which are given as JSON. Empty means that the status lists
// no providers.
func waitForProviders(
	t *testing.T, env *controllertest.Environment, stack, want string,
) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	controllertest.WaitUntil(t, func() error {
		env.Get(t, stack, object)
		got := ""
		if listed := object.Status.DistributionConfig; listed != nil && listed.Providers != nil {
			data, err := json.Marshal(listed.Providers)
			if err != nil {
				return err
			}
			got = string(data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New("providers (-want +got):\n" + diff)
		}
		return nil
	})
	return object
}

// TestRunningProviders checks that the running server's providers are in the status, with their names and with their
// health as the server reports it. A change causes one write of the status. If nothing changes, the operator writes
// nothing. The stack remains ready in both cases.
func TestRunningProviders(t *testing.T) {
	t.Parallel()
	const canary = "cAnArY-3e5a"
	env := controllertest.NewEnvironment(t)
	env.ProbeInterval = 50 * time.Millisecond
	asked := env.StartServer(t, "0.2.20")
	asked.Providers.Store(new(vllmProviders("OK", canary)))
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", canary))
	env.StartOperator(t, "providers")
	env.Create(t, env.NewStack(t, "my", `
distribution: {name: starter, version: "0.2"}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000/v1", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	before := len(controllertest.ListWrites(env.WaitUntilIdle(t, "providers")))
	env.MarkDeploymentReady(t, "my")
	const vllm = `[{"api":"inference","provider_id":"vllm","provider_type":"remote::vllm","health":{"status":`
	const healthy = vllm + `"OK"}}]`
	waitForProviders(t, env, "my", healthy)
	transition := "patch llamastackdistributions status my"
	seen := env.WaitUntilIdle(t, "providers")
	if diff := cmp.Diff([]string{transition, transition}, controllertest.ListWrites(seen)[before:]); diff != "" {
		t.Errorf("writes after a rollout and the server's answer (-want +got):\n%s", diff)
	}

	polled := asked.Requests.Load()
	controllertest.WaitUntil(t, func() error {
		if got := asked.Requests.Load(); got < polled+5 {
			return fmt.Errorf("%d requests", got)
		}
		return nil
	})
	if now := env.WaitUntilIdle(t, "providers"); len(now) != len(seen) {
		t.Errorf("calls although the providers have not changed: %v", now[len(seen):])
	}

	asked.Providers.Store(new(vllmProviders("Error", canary)))
	stack := waitForProviders(t, env, "my", vllm+`"Error","message":"The provider's service rejects the credentials; read the server's log for details"}}]`)
	if diff := cmp.Diff([]string{transition},
		controllertest.ListWrites(env.WaitUntilIdle(t, "providers")[len(seen):])); diff != "" {
		t.Errorf("writes after a change of the health (-want +got):\n%s", diff)
	}
	if ready := env.WaitForCondition(t, "my", v1alpha2.ConditionReady,
		v1alpha2.ReasonMinimumReplicasAvailable); ready.Status != metav1.ConditionTrue {
		t.Errorf("condition %+v", ready)
	}
	const model = `{"identifier": %q, "provider_id": "vllm", "model_type": "llm", "metadata": {"key": %q}}`
	asked.Models.Store(new(fmt.Sprintf(`{"data": [`+model+`,`+model+`]}`, "vllm/b", canary, "vllm/a", canary)))
	models := []v1alpha2.ModelStatus{
		{ID: "vllm/a", Type: "llm"},
		{ID: "vllm/b", Type: "llm"},
	}
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", stack)
		if diff := cmp.Diff(models, stack.Status.Models); diff != "" {
			return errors.New("models (-want +got):\n" + diff)
		}
		return nil
	})
	data, err := json.Marshal(stack)
	testutil.Must(t, err)
	for where, text := range map[string]string{"status": string(data), "log": controllertest.OperatorLog().String()} {
		if strings.Contains(text, canary) {
			t.Errorf("the %s contains the value of a Secret", where)
		}
	}

	env.PatchStack(t, "my", func(s *v1alpha2.LlamaStackDistribution) {
		s.Spec.Workload = &v1alpha2.WorkloadSpec{Replicas: new(int32(0))}
	})
	env.MarkDeploymentReadyAfterUpdate(t, "my")
	if stack := waitForProviders(t, env, "my", ""); stack.Status.Models != nil {
		t.Errorf("models of a stack without pods: %v", stack.Status.Models)
	}
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonScaledToZero)
}

// TestServerCertificate checks that, with TLS, a response is used only if the server presents the certificate in the
// Secret.
func TestServerCertificate(t *testing.T) {
	const spec = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: llama-tls}}}`
	env := controllertest.NewEnvironment(t)
	certificate := controllertest.NewTLSSecret(t, "llama-tls")
	env.StartServer(t, "0.7.1", certificate)
	env.Create(t, certificate)
	env.Workers = true
	env.StartReconciler(t, "certificate-its-own")
	env.Create(t, env.NewStack(t, "my", spec))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.MarkDeploymentReady(t, "my")
	env.WaitForServerVersion(t, "my", "0.7.1")

	other := controllertest.NewEnvironment(t)
	asked := other.StartServer(t, "0.7.1", controllertest.NewTLSSecret(t, "llama-tls"))
	dial, dialed := other.DialServer, make(chan struct{}, 100)
	other.DialServer = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed <- struct{}{}
		return dial(ctx, network, address)
	}
	other.Create(t, controllertest.NewTLSSecret(t, "llama-tls"))
	other.Workers = true
	other.StartReconciler(t, "certificate-another")
	other.Create(t, other.NewStack(t, "my", spec))
	other.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	other.MarkDeploymentReady(t, "my")
	other.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	<-dialed
	other.WaitUntilIdle(t, "certificate-another")
	other.WaitForServerVersion(t, "my", "")
	if got := asked.Requests.Load(); got != 0 {
		t.Errorf("%d requests to a server with another certificate, want none", got)
	}
}
