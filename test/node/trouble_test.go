//go:build node

package node

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// broken describes a stack that does not become ready, the report expected from the operator, and a check that the
// report matches the cluster.
type broken struct {
	name string
	// spec is the rest of the spec after the name of the distribution. before contains the manifests to apply before the
	// stack.
	spec, before string
	reason       string
	// message is a regular expression for the complete message of the condition Available. The test passes the text of
	// each group to the function evidence.
	message string
	// evidence checks the objects that `kubectl get pods,events` shows.
	evidence func(s *scenario, seen cluttered, said []string) error
}

// cluttered contains the pods and the events of a stack in the cluster.
type cluttered struct {
	pods   []corev1.Pod
	events []corev1.Event
}

func faulty(variables ...string) string {
	var env strings.Builder
	for i := 0; i < len(variables); i += 2 {
		fmt.Fprintf(&env, "{name: %s, value: %q}, ", variables[i], variables[i+1])
	}
	return "workload: {resources: " + small + ", overrides: {env: [" + env.String() + "]}}"
}

const none = `0/1 replicas available with current config`

var brokenStacks = []broken{
	{
		name: "crashes", spec: faulty("STANDIN_EXIT", "3"), reason: v1alpha2.ReasonRolloutFailed,
		message:  none + `: container "llama-stack" crashed with exit code (3); see (kubectl logs \S+ -c llama-stack --previous)`,
		evidence: ended("3", "Error"),
	},
	{
		name: "ends well", spec: faulty("STANDIN_EXIT", "0"), reason: v1alpha2.ReasonRolloutFailed,
		message:  none + `: container "llama-stack" ended with exit code (0), possibly because its program could not start, or because its health check did not pass in time; see (kubectl logs \S+ -c llama-stack --previous)`,
		evidence: ended("0", "Completed"),
	},
	{
		name: "quotes a secret", before: secret("creds", "token", canary),
		spec: "providers: {inference: {provider: vllm, endpoint: \"http://vllm:8000\", apiKey: {secretKeyRef: {name: creds, key: token}}}}\n" +
			faulty("STANDIN_LEAK", "true"),
		reason:   v1alpha2.ReasonRolloutFailed,
		message:  none + `: container "llama-stack" crashed with (ValidationError): the server rejects its configuration; correct the value that the error names, or restore the earlier spec; see (kubectl logs \S+ -c llama-stack --previous)`,
		evidence: quoted,
	},
	{
		name: "out of memory", reason: v1alpha2.ReasonRolloutFailed,
		spec: `workload: {resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}, ` +
			`overrides: {env: [{name: STANDIN_MEMORY, value: "256"}]}}`,
		message:  none + `: container "llama-stack" ran out of memory; raise the memory limit of the container \(for the server, spec.workload.resources.limits.memory\)`,
		evidence: ended("137", "OOMKilled"),
	},
	{
		name: "killed by its health check", reason: v1alpha2.ReasonRolloutFailed,
		spec: `workload:
  resources: ` + small + `
  overrides:
    env: [{name: STANDIN_HANG, value: 0s}]
    terminationGracePeriodSeconds: 1
    podTemplate: {spec: {containers: [{name: llama-stack,
      startupProbe: {periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 3}}]}}`,
		message:  none + `: container "llama-stack" ended with exit code 0, .*or because its health check did not pass in time; see (kubectl logs \S+ -c llama-stack --previous)`,
		evidence: unhealthy,
	},
	{
		name: "hangs", spec: faulty("STANDIN_HANG", "0s"), reason: v1alpha2.ReasonRolloutInProgress,
		message:  none,
		evidence: runningUnready,
	},
	{
		name: "no such image", reason: v1alpha2.ReasonRolloutFailed,
		spec: "image",
		message: none + `: image "([^"]+)" of container "llama-stack" cannot be pulled: the registry does not have the image; check the name and the tag of the image; ` +
			`see (kubectl describe pod \S+)`,
		evidence: notPulled,
	},
	{
		name: "too large", reason: v1alpha2.ReasonRolloutInProgress,
		spec:     `workload: {resources: {requests: {cpu: "1000"}}}`,
		message:  none + `: pod "(\S+)" cannot be scheduled: (.*Insufficient cpu.*)`,
		evidence: notScheduled,
	},
	{
		name: "over quota", reason: v1alpha2.ReasonRolloutFailed,
		before:   "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none}\nspec: {hard: {pods: \"0\"}}\n",
		spec:     "workload: {resources: " + small + "}",
		message:  none + `: pods cannot be created: (pods "\S+" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0)`,
		evidence: notCreated,
	},
	{
		name: "refused by Pod Security", reason: v1alpha2.ReasonRolloutFailed,
		spec:     `workload: {resources: ` + small + `, overrides: {podTemplate: {spec: {hostNetwork: true}}}}`,
		message:  none + `: pods cannot be created: (pods "\S+" is forbidden: violates PodSecurity "restricted:latest": .*host.*)`,
		evidence: notCreated,
	},
	{
		name: "no storage class", reason: v1alpha2.ReasonRolloutInProgress,
		spec:     `workload: {resources: ` + small + `, storage: {size: 1Gi, storageClassName: nowhere}}`,
		message:  none + `: PersistentVolumeClaim "(my-pvc)" has no volume: (storageclass.storage.k8s.io "nowhere" not found)`,
		evidence: unbound,
	},
}

const canary = "sk-c4n4ry-0f-a-t0k3n"

// The operator's report about a stack must always match the stack's pods, so the test compares the report with the
// cluster.
func TestBrokenStacks(t *testing.T) {
	t.Parallel()
	for _, b := range brokenStacks {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			spec := "distribution: {name: starter}\n" + b.spec
			if b.spec == "image" {
				spec = "distribution: {image: " + registry + "/standin:" + missingTag + "}\nworkload: {resources: " + small + "}"
			}
			s.apply(b.before + stack("my", spec))
			s.check(&b)
		})
	}
}

// check waits until the stack has the expected report and the report matches the cluster. Both can change while the
// test reads them, so check compares them repeatedly.
func (s *scenario) check(b *broken) {
	s.t.Helper()
	message := regexp.MustCompile("^" + b.message + "$")
	s.until("my", func(object *v1alpha2.LlamaStackDistribution) error {
		available := find(object, v1alpha2.ConditionAvailable)
		said := message.FindStringSubmatch(available.Message)
		if available.Reason != b.reason || said == nil {
			return fmt.Errorf("Available is %s: %q, want %s: %q", available.Reason, available.Message, b.reason, b.message)
		}
		seen, err := s.look("my")
		if err != nil {
			return err
		}
		return errors.Join(agrees(object, seen.pods), b.evidence(s, seen, said[1:]))
	})
}

// look reads the objects that `kubectl get pods,events` shows.
func (s *scenario) look(stack string) (cluttered, error) {
	pods, err := s.pods(stack)
	if err != nil {
		return cluttered{}, err
	}
	var events corev1.EventList
	if err := cluster.List(s.t.Context(), &events, client.InNamespace(s.namespace)); err != nil {
		return cluttered{}, err
	}
	return cluttered{pods, events.Items}, nil
}

// agrees returns an error if the numbers and the phase in a status do not match the pods.
func agrees(stack *v1alpha2.LlamaStackDistribution, pods []corev1.Pod) error {
	serving, there := int32(0), int32(0)
	for i := range pods {
		if pods[i].DeletionTimestamp != nil || pods[i].Status.Phase == corev1.PodFailed ||
			pods[i].Status.Phase == corev1.PodSucceeded {
			continue
		}
		there++
		if isReady(&pods[i]) {
			serving++
		}
	}
	status := stack.Status
	if status.AvailableReplicas != serving || status.Replicas != there {
		return fmt.Errorf("in the status, %d of %d replicas are available, but in the cluster, %d of %d", status.AvailableReplicas, status.Replicas, serving, there)
	}
	ready, available := find(stack, v1alpha2.ConditionReady), find(stack, v1alpha2.ConditionAvailable)
	if ready.Status != available.Status || ready.Reason != available.Reason || ready.Message == available.Message {
		return fmt.Errorf("Ready has %s %q, Available has %s %q", ready.Reason, ready.Message, available.Reason,
			available.Message)
	}
	want := v1alpha2.PhaseInitializing
	if available.Reason == v1alpha2.ReasonRolloutFailed {
		want = v1alpha2.PhaseFailed
	}
	if status.Phase != want {
		return fmt.Errorf("the phase is %s for the reason %s, want %s", status.Phase, available.Reason, want)
	}
	return nil
}
