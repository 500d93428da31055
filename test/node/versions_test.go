//go:build node

package node

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// older is a v1alpha1 stack. It has a Service because it specifies a port.
const older = `---
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: %s}
spec:
  replicas: %d
  server:
    distribution: {name: %s}
    containerSpec: {port: 8321, resources: ` + small + `}
`

// bothVersionsAfter is the maximum time for which list requests may fail after all operator pods have been deleted.
const bothVersionsAfter = 30 * time.Second

// inV1alpha1 and inV1alpha2 are kubectl arguments that select the kind in a version.
const (
	inV1alpha1 = "llamastackdistributions.v1alpha1.llamastack.io"
	inV1alpha2 = "llamastackdistributions.v1alpha2.llamastack.io"
)

// Story 7: a v1alpha1 stack runs, has the conditions that its users wait for, and can be read and edited in both
// versions. The API server converts stacks with the operator's webhook, with its Service and with the certificate that
// the operator created.
func TestStory7BothVersions(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	// Pods of v1alpha1 stacks have the older operator's security context, which the restricted standard does not allow.
	s.kubectl("label", "namespace", s.namespace, "pod-security.kubernetes.io/enforce=baseline", "--overwrite")
	s.apply(fmt.Sprintf(older, "my", 1, "starter"))
	s.ready("my")
	for _, condition := range []string{"DeploymentReady", "HealthCheck", "ServiceReady", "ConfigReady"} {
		s.kubectl("wait", "--for=condition="+condition, "--timeout=60s", inV1alpha1+"/my")
	}
	s.client().listed(s.service("my")+"/v1/providers", "provider_id")

	s.kubectl("patch", inV1alpha1, "my", "--type=merge", `--patch={"spec":{"replicas":2}}`)
	if got := s.kubectl("get", inV1alpha2, "my", "--output=jsonpath={.spec.workload.replicas}"); got != "2" {
		t.Errorf("%s replicas in v1alpha2, want 2", got)
	}
	s.kubectl("patch", inV1alpha2, "my", "--type=merge", `--patch={"spec":{"workload":{"replicas":1}}}`)
	if got := s.kubectl("get", inV1alpha1, "my", "--output=jsonpath={.spec.replicas}"); got != "1" {
		t.Errorf("%s replicas in v1alpha1, want 1", got)
	}
}

// All operator pods, which run under the restricted Pod Security standard, are deleted at the same time. Both versions
// can be listed again within half a minute, and one of the new pods becomes the leader and reconciles. The test does
// not run in parallel with other scenarios, because they would have to wait.
func TestEveryOperatorPodIsLost(t *testing.T) {
	s := newScenario(t)
	if got := s.kubectl("get", "namespace", names.OperatorNamespace,
		`--output=jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}`); got != "restricted" {
		t.Errorf("the namespace enforces %q", got)
	}
	s.kubectl("label", "namespace", s.namespace, "pod-security.kubernetes.io/enforce=baseline", "--overwrite")
	s.apply(fmt.Sprintf(older, "my", 0, "starter"))
	lost := operatorPods(t)
	_, err := kubectl(t.Context(), nil, "delete", "pod", "--namespace="+names.OperatorNamespace, "--selector=control-plane=controller-manager", "--grace-period=0", "--force")
	if err != nil {
		t.Fatal(err)
	}
	took := testutil.Within(t, bothVersionsAfter, func() error {
		if err := replaced(t, lost, 1); err != nil {
			return err
		}
		for _, kind := range []string{inV1alpha1, inV1alpha2} {
			if _, err := kubectl(t.Context(), nil, "get", kind, "--all-namespaces"); err != nil {
				return err
			}
		}
		return nil
	})
	t.Logf("both versions could be listed after %v", took)
	s.eventually(func() error { _, err := leader(t); return err })
	// The next scenarios write v1alpha1 stacks immediately.
	s.eventually(func() error { return replaced(t, lost, operatorReplicas) })
	s.kubectl("get", inV1alpha1)
	s.apply(stack("after", "distribution: {name: starter}\nworkload: {resources: "+small+"}"))
	s.ready("after")
}

// replaced returns an error if a lost pod still exists, or if the number of ready operator pods is less than want.
func replaced(t testing.TB, lost []corev1.Pod, want int) error {
	t.Helper()
	ready := 0
	for _, pod := range operatorPods(t) {
		if slices.ContainsFunc(lost, func(was corev1.Pod) bool { return was.UID == pod.UID }) {
			return fmt.Errorf("pod %q still exists", pod.Name)
		}
		if isReady(&pod) {
			ready++
		}
	}
	if ready < want {
		return fmt.Errorf("%d pods of the operator are ready, want %d", ready, want)
	}
	return nil
}
