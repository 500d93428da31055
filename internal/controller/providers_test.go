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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// vllmListed returns a server's list of providers with values from its environment, of which only the one under
// api_token is masked.
func vllmListed(status, canary string) string {
	return fmt.Sprintf(`{"data": [{"api": "inference", "provider_id": "vllm", "provider_type": "remote::vllm",
		"config": {"base_url": "http://u:%[2]s@vllm:8000/v1", "api_token": "********", "extra": %[2]q},
		"health": {"status": %[1]q, "message": "Error code: 401 - wrong key %[2]s"}}]}`, status, canary)
}

// listed waits until the status has the providers, as JSON. Empty means none.
func (b *bench) listed(t *testing.T, stack, want string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	eventually(t, func() error {
		b.get(t, stack, object)
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

func (b *bench) patch(t *testing.T, stack string, change func(*v1alpha2.LlamaStackDistribution)) {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	b.get(t, stack, object)
	patch := client.MergeFrom(object.DeepCopy())
	change(object)
	if err := b.Patch(t.Context(), object, patch); err != nil {
		t.Fatal(err)
	}
}

// TestProviders checks that the running server's providers are in the status, with their names and with their health as
// the server reports it. A change causes one status write, no change causes none, and the stack stays ready in either
// case.
func TestProviders(t *testing.T) {
	const canary = "cAnArY-3e5a"
	b := newBench(t)
	b.interval = 50 * time.Millisecond
	asked := b.serve(t, "0.2.20")
	asked.providers.Store(new(vllmListed("OK", canary)))
	b.create(t, secret("vllm-creds", "token", canary))
	b.start(t, "providers")
	b.create(t, b.stack(t, "my", `
distribution: {name: starter, version: "0.2"}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000/v1", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	before := len(writes(b.settled(t, "providers")))
	b.rollOut(t, "my")
	const vllm = `[{"api":"inference","provider_id":"vllm","provider_type":"remote::vllm","health":{"status":`
	const healthy = vllm + `"OK"}}]`
	b.listed(t, "my", healthy)
	transition := "patch llamastackdistributions status my"
	seen := b.settled(t, "providers")
	if diff := cmp.Diff([]string{transition, transition}, writes(seen)[before:]); diff != "" {
		t.Errorf("writes of a roll-out and the server's answer (-want +got):\n%s", diff)
	}

	polled := asked.requests.Load()
	eventually(t, func() error {
		if got := asked.requests.Load(); got < polled+5 {
			return fmt.Errorf("%d requests", got)
		}
		return nil
	})
	if now := b.settled(t, "providers"); len(now) != len(seen) {
		t.Errorf("calls while nothing changes: %v", now[len(seen):])
	}

	asked.providers.Store(new(vllmListed("Error", canary)))
	stack := b.listed(t, "my", vllm+`"Error","message":"The provider's service rejects the credentials; the server's log has the details"}}]`)
	if diff := cmp.Diff([]string{transition}, writes(b.settled(t, "providers")[len(seen):])); diff != "" {
		t.Errorf("writes of a change of health (-want +got):\n%s", diff)
	}
	if ready := b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable); ready.Status != metav1.ConditionTrue {
		t.Errorf("condition %+v", ready)
	}
	const model = `{"identifier": %q, "provider_id": "vllm", "model_type": "llm", "metadata": {"key": %q}}`
	asked.models.Store(new(fmt.Sprintf(`{"data": [`+model+`,`+model+`]}`, "vllm/b", canary, "vllm/a", canary)))
	models := []v1alpha2.ModelStatus{{ID: "vllm/a", Type: "llm", Provider: "vllm"}, {ID: "vllm/b", Type: "llm", Provider: "vllm"}}
	eventually(t, func() error {
		b.get(t, "my", stack)
		if diff := cmp.Diff(models, stack.Status.Models); diff != "" {
			return errors.New("models (-want +got):\n" + diff)
		}
		return nil
	})
	data, err := json.Marshal(stack)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"status": string(data), "log": logs.String()} {
		if strings.Contains(text, canary) {
			t.Errorf("the %s holds a secret's value", where)
		}
	}

	b.patch(t, "my", func(s *v1alpha2.LlamaStackDistribution) {
		s.Spec.Workload = &v1alpha2.WorkloadSpec{Replicas: new(int32(0))}
	})
	b.rollOutAtGeneration(t, "my")
	if stack := b.listed(t, "my", ""); stack.Status.Models != nil {
		t.Errorf("models of a stack without pods: %v", stack.Status.Models)
	}
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonScaledToZero)
}

// rollOutAtGeneration completes the roll-out once the Deployment has the current spec.
func (b *bench) rollOutAtGeneration(t *testing.T, name string) {
	t.Helper()
	eventually(t, func() error {
		object := &v1alpha2.LlamaStackDistribution{}
		b.get(t, name, object)
		if object.Status.ObservedGeneration != object.Generation {
			return fmt.Errorf("generation %d of %d", object.Status.ObservedGeneration, object.Generation)
		}
		return nil
	})
	b.rollOut(t, name)
}

// TestProvidersAreNotTold checks that, whatever a server answers, its stack is ready, its version stays, and nothing of
// the answer is shown. The previous server's providers are removed.
func TestProvidersAreNotTold(t *testing.T) {
	const canary = "cAnArY-9b0c"
	for name, answer := range map[string]string{
		"401":             "",
		"not json":        canary,
		"another shape":   `{"data": "` + canary + `"}`,
		"a huge answer":   `{"data": [], "more": "` + strings.Repeat(canary, 60_000) + `"}`,
		"no usable entry": `{"data": [{"api": "` + canary + ` "}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			asked := b.serve(t, "0.7.1")
			asked.providers.Store(new(vllmListed("Not Implemented", "")))
			version := "not-told-" + strings.ReplaceAll(name, " ", "-")
			b.start(t, version)
			b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			b.rollOut(t, "my")
			b.listed(t, "my", `[{"api":"inference","provider_id":"vllm","provider_type":"remote::vllm"}]`)
			asked.providers.Store(&answer)
			b.patch(t, "my", func(s *v1alpha2.LlamaStackDistribution) {
				s.Spec.Workload = &v1alpha2.WorkloadSpec{Overrides: &v1alpha2.WorkloadOverrides{Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}}
			})
			b.rollOutAtGeneration(t, "my")
			b.listed(t, "my", "")
			stack := b.serverVersion(t, "my", "0.7.1")
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			b.settled(t, version)
			if text := fmt.Sprint(stack) + logs.String(); strings.Contains(text, canary) {
				t.Errorf("the answer is shown in status or log")
			}
		})
	}
}

// TestServerHangs checks that a server that hangs blocks nothing: its stack is ready, and the operator works.
func TestServerHangs(t *testing.T) {
	b := newBench(t)
	hanging := make(chan struct{}, 100)
	b.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		hanging <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	b.start(t, "hangs")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	<-hanging
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.patch(t, "my", func(s *v1alpha2.LlamaStackDistribution) {
		s.Spec.Workload = &v1alpha2.WorkloadSpec{Replicas: new(int32(0))}
	})
	b.rollOutAtGeneration(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonScaledToZero)
	b.listed(t, "my", "")
}

// TestServerCertificate checks that, with TLS, a server's answer counts only if the server presents the certificate of
// the Secret, also after its renewal.
func TestServerCertificate(t *testing.T) {
	const spec = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: llama-tls}}}`
	b := newBench(t)
	certificate := tlsSecret(t, "llama-tls")
	b.serve(t, "0.7.1", certificate)
	b.create(t, certificate)
	b.start(t, "certificate-its-own")
	b.create(t, b.stack(t, "my", spec))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	b.serverVersion(t, "my", "0.7.1")

	other := newBench(t)
	asked := other.serve(t, "0.7.1", tlsSecret(t, "llama-tls"))
	other.create(t, tlsSecret(t, "llama-tls"))
	other.start(t, "certificate-another")
	other.create(t, other.stack(t, "my", spec))
	other.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	other.rollOut(t, "my")
	other.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	other.settled(t, "certificate-another")
	other.serverVersion(t, "my", "")
	if got := asked.requests.Load(); got != 0 {
		t.Errorf("%d requests reached a server that is not the stack's", got)
	}
}
