package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// All tests share one control plane, and each test has its own namespace.
func TestRollOuts(t *testing.T) {
	c := startCluster(t)
	for name, test := range map[string]func(*testing.T, *bench){
		"a change whose pods do not become ready": testFailingChange,
		"a change with a preflight":               testTriedChange,
		"a change that exceeds a quota":           testQuota,
		"a killed pod":                            testKilledPod,
		"another port and protocol":               testMovedServer,
		"an autoscaler's replicas":                testAutoscaler,
		"deleted":                                 testDeletion,
		"a new stack for orphaned objects":        testOrphans,
		"deleted with its namespace":              testNamespaceDeletion,
	} {
		t.Run(name, func(t *testing.T) { test(t, c.newBench(t)) })
	}
}

func configured(model, health string) string {
	return fmt.Sprintf(`{distribution: {name: starter}, resources: {models: [%s]}, workload: {overrides: {podAnnotations: {%s: %s}}}}`,
		model, healthAnnotation, health)
}

// pods returns the stack's ready pods, which serve requests, and all other pods.
func (b *bench) pods(t *testing.T, stack string) (serving, others []string) {
	t.Helper()
	var pods corev1.PodList
	testutil.Must(t, b.List(t.Context(), &pods, client.InNamespace(b.namespace),
		client.MatchingLabels(names.Selector(stack))))
	for i := range pods.Items {
		if pod := &pods.Items[i]; slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			serving = append(serving, pod.Name)
		} else {
			others = append(others, pod.Name)
		}
	}
	return serving, others
}

// testFailingChange checks that the old pods continue to serve requests if the pods with a new configuration do not
// become ready, and that the status contains the reason. It also checks that the operator does not undo a rollback, and
// that the next change takes effect.
func testFailingChange(t *testing.T, b *bench) {
	b.apply(t, "my", configured("one", "well"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	before, _ := b.pods(t, "my")
	first := &appsv1.Deployment{}
	b.get(t, "my", first)

	b.apply(t, "my", configured("two", ill))
	eventually(t, func() error {
		available := b.condition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed)
		if want := `0/1 replicas available with current config: container "llama-stack" crashed with exit code 7`; !strings.HasPrefix(available.Message, want) {
			return fmt.Errorf("message %q, want %q", available.Message, want)
		}
		return nil
	})
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutFailed)
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	if stack.Status.AvailableReplicas != 1 || stack.Status.Phase != v1alpha2.PhaseFailed {
		t.Errorf("%d replicas are available in phase %s, want the old replica and the phase Failed", stack.Status.AvailableReplicas, stack.Status.Phase)
	}
	if serving, _ := b.pods(t, "my"); !slices.Equal(serving, before) {
		t.Errorf("pods %v serve, want %v", serving, before)
	}

	b.kubectl(t, "rollout", "undo", "deployment/my")
	degraded := b.condition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonRolledBack)
	eventually(t, func() error {
		if serving, others := b.pods(t, "my"); !slices.Equal(serving, before) || len(others) > 0 {
			return fmt.Errorf("pods %v serve and %v do not", serving, others)
		}
		return nil
	})
	ready := b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolledBack)
	if !strings.HasPrefix(ready.Message, "Degraded is True") || ready.Message == degraded.Message {
		t.Errorf("the message of Ready is %q, and the message of Degraded is %q", ready.Message, degraded.Message)
	}
	b.condition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable)
	now := &appsv1.Deployment{}
	b.get(t, "my", now)
	if got, want := configMapOf(now), configMapOf(first); got != want {
		t.Errorf("the pods mount %q, want %q", got, want)
	}
	b.get(t, configMapOf(first), &corev1.ConfigMap{})

	b.apply(t, "my", configured("three", "well"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.get(t, "my", stack)
	if meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded) != nil {
		t.Errorf("still degraded: %+v", stack.Status.Conditions)
	}
}

// If the old pod must stop before the new pod starts, the operator first tests a change in a preflight pod. If that pod
// does not start, the old pod is not stopped. If the preflight pod starts, the change is rolled out. When the stack is
// deleted, no preflight pod remains.
func testTriedChange(t *testing.T, b *bench) {
	filed := func(model, health string) string {
		return strings.Replace(configured(model, health), "workload: {", "workload: {storage: {size: 1Gi}, ", 1)
	}
	tries := func() int {
		t.Helper()
		var pods corev1.PodList
		testutil.Must(t, b.List(t.Context(), &pods, client.InNamespace(b.namespace),
			client.MatchingLabels(names.PreflightSelector("my"))))
		return len(pods.Items)
	}
	b.apply(t, "my", filed("one", "well"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	before, _ := b.pods(t, "my")

	b.apply(t, "my", filed("two", ill))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightFailed)
	failed := b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightFailed)
	if !strings.Contains(failed.Message, `container "llama-stack" crashed with exit code 7`) {
		t.Errorf("message %q", failed.Message)
	}
	if serving, others := b.pods(t, "my"); !slices.Equal(serving, before) || len(others) > 0 {
		t.Errorf("pods %v serve and %v do not, want %v", serving, others, before)
	}

	b.apply(t, "my", filed("three", "well"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.serves(t, "my", 1)
	if serving, _ := b.pods(t, "my"); slices.Equal(serving, before) {
		t.Errorf("the change did not take effect: pods %v serve", serving)
	}
	eventually(t, func() error {
		if n := tries(); n > 0 {
			return fmt.Errorf("%d pods still exist", n)
		}
		return nil
	})

	b.apply(t, "my", filed("four", ill))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightFailed)
	b.kubectl(t, "delete", "llsd", "my", "--timeout=30s")
	b.remains(t, "my")
	if n := tries(); n > 0 {
		t.Errorf("%d pods still exist after their stack was deleted", n)
	}
}

// configMapOf returns the name of the ConfigMap with the configuration that the pods mount.
func configMapOf(deployment *appsv1.Deployment) string {
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		if volume.ConfigMap != nil {
			return volume.ConfigMap.Name
		}
	}
	return ""
}

// serves waits until this number of pods are ready and no other pod exists.
func (b *bench) serves(t *testing.T, stack string, want int) {
	t.Helper()
	eventually(t, func() error {
		if serving, others := b.pods(t, stack); len(serving) != want || len(others) > 0 {
			return fmt.Errorf("pods %v serve and %v do not, want %d", serving, others, want)
		}
		return nil
	})
}

// A change to a field other than workload.autoscaling does not modify the number of replicas that the autoscaler has
// set. If the cluster has no metrics, the status contains the HorizontalPodAutoscaler's message.
func testAutoscaler(t *testing.T, b *bench) {
	const autoscaled = `{distribution: {name: starter}, resources: {models: [%s]}, workload: {autoscaling: {minReplicas: 3, maxReplicas: 5}}}`
	b.apply(t, "my", fmt.Sprintf(autoscaled, "one"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.serves(t, "my", 3)
	b.apply(t, "my", fmt.Sprintf(autoscaled, "two"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.serves(t, "my", 3)
	degraded := b.condition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonAutoscalerInactive)
	if want := `HorizontalPodAutoscaler "my-hpa" does not scale (FailedGetResourceMetric): the HPA was unable to compute the replica count: `; !strings.HasPrefix(degraded.Message, want) {
		t.Errorf("the message is %q, want it to begin with %q", degraded.Message, want)
	}
	b.kubectl(t, "wait", "--for=condition=Ready", "llsd/my", "--timeout=20s")
}

const everyChild = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: creds, key: token}}}
storage:
  sql: {type: postgres, connectionString: {secretKeyRef: {name: creds, key: postgres}}}
networking: {expose: {hostname: %s.example.com}, allowedFrom: {namespaces: [web]}}
workload:
  autoscaling: {minReplicas: 2, maxReplicas: 3}
  podDisruptionBudget: {minAvailable: 1}
  storage: {size: 1Gi, accessModes: [ReadWriteMany], retainOnDelete: %t}
`

func (b *bench) credentials(t *testing.T) {
	t.Helper()
	secret := &corev1.Secret{StringData: map[string]string{"token": "sk-abc", "postgres": "postgresql://llama:pass-word@db:5432/llama"}}
	secret.Namespace, secret.Name = b.namespace, "creds"
	testutil.Must(t, b.Create(t.Context(), secret))
}

// children returns the kinds and names of a stack's objects, including pods and ReplicaSets.
func (b *bench) children(t *testing.T, stack string) []string {
	t.Helper()
	var found []string
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.PodList{}, &corev1.ServiceList{},
		&corev1.ServiceAccountList{},
		&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.PersistentVolumeClaimList{}, &networkingv1.IngressList{},
		&networkingv1.NetworkPolicyList{}, &policyv1.PodDisruptionBudgetList{}, &autoscalingv2.HorizontalPodAutoscalerList{},
	} {
		labels := client.MatchingLabels{names.LabelInstance: stack}
		testutil.Must(t, b.List(t.Context(), list, client.InNamespace(b.namespace), labels))
		items, err := meta.ExtractList(list)
		testutil.Must(t, err)
		for _, item := range items {
			found = append(found, fmt.Sprintf("%T %s", item, item.(client.Object).GetName()))
		}
	}
	return found
}

func (b *bench) remains(t *testing.T, stack string, want ...string) {
	t.Helper()
	eventually(t, func() error {
		if got := b.children(t, stack); !slices.Equal(got, want) {
			return fmt.Errorf("children of %q: %v, want %v", stack, got, want)
		}
		return nil
	})
}

// When a stack is deleted, in the background or in the foreground, all its objects are deleted. If the spec retains the
// PersistentVolumeClaim, the claim is not deleted, and a new stack uses it.
func testDeletion(t *testing.T, b *bench) {
	b.credentials(t)
	for _, name := range []string{"gone", "kept", "foreground"} {
		b.apply(t, name, fmt.Sprintf(everyChild, name, name == "kept"))
	}
	for _, name := range []string{"gone", "kept", "foreground"} {
		b.condition(t, name, v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
		if got := b.children(t, name); len(got) < 12 {
			t.Errorf("children of %q: %v", name, got)
		}
	}
	b.kubectl(t, "delete", "llsd", "gone", "kept", "--timeout=30s")
	b.kubectl(t, "delete", "llsd", "foreground", "--cascade=foreground", "--timeout=60s")
	b.remains(t, "gone")
	b.remains(t, "foreground")
	b.remains(t, "kept", "*v1.PersistentVolumeClaim kept-pvc")
	b.get(t, "creds", &corev1.Secret{})

	claim := &corev1.PersistentVolumeClaim{}
	b.get(t, "kept-pvc", claim)
	b.apply(t, "kept", fmt.Sprintf(everyChild, "kept", false))
	b.condition(t, "kept", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	again := &corev1.PersistentVolumeClaim{}
	b.get(t, "kept-pvc", again)
	if again.UID != claim.UID || len(again.OwnerReferences) != 1 {
		t.Errorf("the claim is %s with the owners %v, want %s with the stack as its owner", again.UID, again.OwnerReferences, claim.UID)
	}
	b.kubectl(t, "delete", "llsd", "kept", "--timeout=30s")
	b.remains(t, "kept")
}

// If a user deletes a stack but not its objects, a new stack adopts the same pods.
func testOrphans(t *testing.T, b *bench) {
	b.credentials(t)
	b.apply(t, "my", fmt.Sprintf(everyChild, "orphans", false))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.serves(t, "my", 2)
	before := b.children(t, "my")
	b.kubectl(t, "delete", "llsd", "my", "--cascade=orphan", "--timeout=30s")
	b.apply(t, "my", fmt.Sprintf(everyChild, "orphans", false))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.remains(t, "my", before...)
	b.kubectl(t, "delete", "llsd", "my", "--timeout=30s")
	b.remains(t, "my")
}

// A namespace is deleted with its stacks, even though the operator recreates every object that is deleted before its
// stack. The operator does not report a failure. The operator cannot record events in a namespace that is being
// deleted, and it does not have permission to read namespaces.
func testNamespaceDeletion(t *testing.T, b *bench) {
	b.credentials(t)
	for _, name := range []string{"one", "two"} {
		b.apply(t, name, fmt.Sprintf(everyChild, name, name == "two"))
		b.condition(t, name, v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	}
	before := len(b.log.String())
	began := time.Now()
	b.kubectl(t, "delete", "namespace", b.namespace, "--timeout=60s")
	t.Logf("the namespace was deleted after %v", time.Since(began))
	err := b.Get(t.Context(), client.ObjectKey{Name: b.namespace}, &corev1.Namespace{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the namespace still exists: %v", err)
	}
	for line := range strings.Lines(b.log.String()[before:]) {
		if strings.Contains(line, `"level":"error"`) && strings.Contains(line, b.namespace) && !strings.Contains(line, `"logger":"events"`) {
			t.Errorf("the operator reports: %s", line)
		}
	}
}
