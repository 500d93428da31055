package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// failedPodStatus returns the status of a pod whose server has exited with this exit code and message.
func failedPodStatus(code int32, message string) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "llama-stack", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Message: message, StartedAt: metav1.Now(),
		}},
	}}}
}

// passPreflight makes a preflight pod ready, and waits until the change is applied.
func passPreflight(t *testing.T, env *controllertest.Environment, pod *corev1.Pod, before *appsv1.Deployment) {
	t.Helper()
	env.AssignToNode(t, pod)
	env.SetPodStatus(t, pod, controllertest.ContainersReadyStatus())
	env.WaitForDeploymentUpdate(t, before)
	env.WaitForNoPreflight(t)
}

// TestPreflightFails checks that a change that prevents the server from starting never reaches the running pods, and
// that the reported reason does not contain server output.
func TestPreflightFails(t *testing.T) {
	t.Parallel()
	const canary = "cAnArY-3f2b"
	env := controllertest.NewEnvironment(t)
	o := env.StartWithReadyStack(t, controllertest.VolumeSpec)
	env.TerminateDeletedPods(t)
	before := env.GetDeployment(t)
	env.UpdateSpec(t, "my", controllertest.ChangedVolumeSpec)
	pod := env.WaitForPreflightPod(t, nil)
	note := env.WaitForEvent(t, corev1.EventTypeNormal, v1alpha2.EventPreflightStarted)
	if !strings.Contains(note, pod.Name) {
		t.Errorf("note %q", note)
	}
	if !metav1.IsControlledBy(pod, env.GetStack(t)) {
		t.Error("the stack does not control the pod, so the pod would not be deleted with it")
	}
	env.AssignToNode(t, pod)
	env.SetPodStatus(t, pod, failedPodStatus(1, "ValidationError: input_value='"+canary+"'"))
	want := fmt.Sprintf(`The operator tested the change in Pod %[1]q, which did not become ready: container "llama-stack" crashed `+
		`with ValidationError: the server rejects its configuration; correct the value that the error names, or restore the earlier spec; `+
		`see kubectl logs %[1]s -c llama-stack. The running pods do not change; `+
		`change the spec or an object that it refers to, or delete Pod %[1]q to try again`, pod.Name)
	for condition, message := range map[string]string{
		v1alpha2.ConditionDeploymentUpdated: want,
		v1alpha2.ConditionReady:             "DeploymentUpdated is False; its message contains the details",
		v1alpha2.ConditionStalled:           "You must change the stack; see the condition DeploymentUpdated",
	} {
		controllertest.WaitUntil(t, func() error {
			return env.CheckCondition(t, "my", condition,
				v1alpha2.ReasonPreflightFailed, message)
		})
	}
	seen := env.GetStackState(t, "my")
	env.WaitForStackState(t, "my", v1alpha2.PhaseFailed, seen.Conditions, kstatus.FailedStatus)
	if seen.Conditions[v1alpha2.ConditionAvailable] != "True "+v1alpha2.ReasonMinimumReplicasAvailable {
		t.Errorf("Available is %s", seen.Conditions[v1alpha2.ConditionAvailable])
	}
	if note := env.WaitForEvent(t, corev1.EventTypeWarning, v1alpha2.EventPreflightFailed); note != want {
		t.Errorf("note %q", note)
	}
	text := fmt.Sprint(env.ListEvents(t), seen, controllertest.OperatorLog().String())
	if strings.Contains(text, canary) {
		t.Error("the output of the server is reported")
	}
	calls := len(env.WaitUntilIdle(t, env.Namespace))
	env.CheckDeploymentUnchanged(t, before)

	// The next operator reads the outcome from the cluster.
	o.Stop(t)
	env.StartReconciler(t, env.Namespace+"-2")
	env.WaitUntilIdle(t, env.Namespace+"-2")
	if same := env.WaitForPreflightPod(t, nil); same.UID != pod.UID || calls != len(env.ListCalls(t, env.Namespace)) {
		t.Error("another pod tried the change")
	}
	env.CheckDeploymentUnchanged(t, before)
	env.Delete(t, pod)
	again := env.WaitForPreflightPod(t, pod)
	if again.Name != pod.Name {
		t.Errorf("pod %s tests the change again, want the same name as before", again.Name)
	}
	passPreflight(t, env, again, before)
}

// TestPreflightWaits checks that the preflight waits after a temporary failure: until the kubelet has pulled an image,
// or until another pod can replace an evicted one.
func TestPreflightWaits(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.StartWithReadyStack(t, controllertest.VolumeSpec)
	env.TerminateDeletedPods(t)
	before := env.GetDeployment(t)
	env.UpdateSpec(t, "my", controllertest.ChangedVolumeSpec)
	pod := env.WaitForPreflightPod(t, nil)
	env.AssignToNode(t, pod)
	env.SetPodStatus(t, pod, controllertest.ServerPodStatus("example.com/i:1",
		controllertest.WaitingState("ImagePullBackOff", "not found"), corev1.ContainerState{}))
	failed := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightFailed)
	if !strings.Contains(failed.Message, "the registry does not have the image") || !strings.HasSuffix(failed.Message, "; the kubelet tries again") {
		t.Errorf("message %q", failed.Message)
	}
	env.WaitForStackState(t, "my", v1alpha2.PhasePending, env.GetStackState(t, "my").Conditions, kstatus.InProgressStatus)

	evicted := corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory",
		StartTime: new(metav1.Now()),
	}
	env.SetPodStatus(t, pod, evicted)
	controllertest.WaitUntil(t, func() error {
		return env.CheckCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightFailed, fmt.Sprintf("The operator tested the change in Pod %[1]q, which did not become ready: "+
			"pod %[1]q ended (Evicted): low on memory. The running pods do not change; the operator will test the change again in another pod", pod.Name))
	})
	env.WaitUntilIdle(t, env.Namespace)
	if same := env.WaitForPreflightPod(t, nil); same.UID != pod.UID {
		t.Error("the pod was replaced immediately")
	}
	evicted.StartTime = new(metav1.NewTime(time.Now().Add(-5 * time.Minute)))
	env.SetPodStatus(t, pod, evicted)
	again := env.WaitForPreflightPod(t, pod)
	env.CheckDeploymentUnchanged(t, before)
	passPreflight(t, env, again, before)
}

// TestPreflightIsSkipped checks that a change is applied without a preflight if the preflight pod cannot run.
func TestPreflightIsSkipped(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec   string
		reason string
	}{
		"pod security": {
			strings.Replace(controllertest.ChangedVolumeSpec, "workload: {", "workload: {overrides: {podTemplate: {spec: {securityContext: {runAsUser: 0, runAsNonRoot: false}}}}, ", 1),
			`violates PodSecurity "restricted:latest"`,
		},
		"no node": {controllertest.ChangedVolumeSpec, "0/1 nodes are available"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := controllertest.NewEnvironment(t)
			env.StartWithReadyStack(t, controllertest.VolumeSpec)
			env.TerminateDeletedPods(t)
			before := env.GetDeployment(t)
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: env.Namespace}}
			env.Patch(t, namespace, client.RawPatch(types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)))
			env.UpdateSpec(t, "my", tc.spec)
			if name == "no node" {
				pod := env.WaitForPreflightPod(t, nil)
				env.CheckDeploymentUnchanged(t, before)
				env.SetPodStatus(t, pod, corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available: 1 Insufficient memory.",
					LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute)),
				}}})
			}
			env.WaitForDeploymentUpdate(t, before)
			env.WaitForNoPreflight(t)
			if note := env.WaitForEvent(t, corev1.EventTypeWarning, v1alpha2.EventPreflightSkipped); !strings.HasPrefix(note, "The operator is applying the change without a preflight: ") || !strings.Contains(note, tc.reason) {
				t.Errorf("note %q", note)
			}
		})
	}
}

// TestPreflightSuperseded checks that only the last of several changes is tested, by one pod at a time, and that the
// objects of a reverted change are deleted.
func TestPreflightSuperseded(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	const spec = `{distribution: {name: starter}, resources: {models: [MODEL]}, workload: {storage: {size: 1Gi}},
providers: {inference: {provider: vllm, endpoint: "http://vllm:8000",
  apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}}}`
	model := func(name string) string { return strings.Replace(spec, "MODEL", name, 1) }
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-1"))
	env.StartWithReadyStack(t, model("a"))
	env.TerminateDeletedPods(t)
	before := env.GetDeployment(t)
	env.UpdateSpec(t, "my", model("b"))
	first := env.WaitForPreflightPod(t, nil)
	env.AssignToNode(t, first)
	env.UpdateSpec(t, "my", model("c"))
	second := env.WaitForPreflightPod(t, first)
	if second.Name == first.Name {
		t.Errorf("the pods of two changes have the same name %s", second.Name)
	}
	env.AssignToNode(t, second)
	env.SetPodStatus(t, second, failedPodStatus(1, ""))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightFailed)
	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Labels = map[string]string{"a": "b"} })
	env.WaitUntilIdle(t, env.Namespace)
	if same := env.WaitForPreflightPod(t, nil); same.UID != second.UID {
		t.Error("a label of the stack causes another preflight")
	}

	// The value in a Secret that the spec refers to is part of the change.
	token := controllertest.NewSecret("vllm-creds", "token", "sk-2")
	token.Namespace = env.Namespace
	env.Update(t, token)
	third := env.WaitForPreflightPod(t, second)
	env.CheckDeploymentUnchanged(t, before)
	token = controllertest.NewSecret("vllm-creds", "token", "sk-1")
	token.Namespace = env.Namespace
	env.Update(t, token)
	env.WaitForPreflightPod(t, third)
	env.UpdateSpec(t, "my", model("a"))
	env.WaitForNoPreflight(t)
	env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	after := &appsv1.Deployment{}
	if env.Get(t, "my", after); !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		t.Errorf("the reverted change replaced the running pods (-before +after):\n%s", cmp.Diff(before.Spec, after.Spec))
	}
	controllertest.WaitUntil(t, func() error { // only the current and the previous configuration remain
		var configs corev1.ConfigMapList
		if err := env.Client.List(t.Context(), &configs, client.InNamespace(env.Namespace),
			client.MatchingLabels(names.ConfigLabels("my", names.ConfigKindGenerated))); err != nil {
			return err
		}
		if len(configs.Items) > 2 {
			return fmt.Errorf("%d configurations, want two", len(configs.Items))
		}
		return nil
	})
}

// TestPreflightHasItsOwnCopies checks that a preflight pod has its own copies of the objects that a change modifies, so
// that the running pods keep theirs until the change is applied.
func TestPreflightHasItsOwnCopies(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	const spec = `{distribution: {name: starter}, workload: {preflight: Always}, networking: {allowedFrom: {namespaces: [other]}},
storage: {kv: {type: redis, endpoint: "redis:6379", password: {secretKeyRef: {name: redis-creds, key: password}}}}}`
	env.Create(t, controllertest.NewSecret("redis-creds", "password", "one"))
	env.StartWithReadyStack(t, spec)
	env.TerminateDeletedPods(t)
	before := env.GetDeployment(t)
	token := controllertest.NewSecret("redis-creds", "password", "two")
	token.Namespace = env.Namespace
	env.Update(t, token)
	pod := env.WaitForPreflightPod(t, nil)
	password := func(name string) string {
		found := &corev1.Secret{}
		env.Get(t, name, found)
		return string(found.Data["kv-password"])
	}
	first := controllertest.StorageSecretOf(t, before)
	if running, tried := password(first), password(pod.Name); running != "one" || tried != "two" {
		t.Errorf("the running pods read %q, and the preflight pod reads %q", running, tried)
	}
	policy := &networkingv1.NetworkPolicy{}
	env.Get(t, pod.Name, policy)
	if len(policy.Spec.Ingress) != 0 || policy.Spec.PodSelector.MatchLabels[names.LabelApp] != pod.Labels[names.LabelApp] {
		t.Errorf("policy %+v", policy.Spec)
	}
	passPreflight(t, env, pod, before)
	after := env.GetDeployment(t)
	if read := controllertest.StorageSecretOf(t, after); read == first || password(read) != "two" {
		t.Errorf("the pods read %q from Secret %q", password(read), read)
	}
}

// TestPreflightWhilePodsAreUnavailable checks that a change that failed in a preflight pod is not applied, even if the
// running pods become unavailable for a moment.
func TestPreflightWhilePodsAreUnavailable(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.StartWithReadyStack(t, controllertest.VolumeSpec)
	before := env.GetDeployment(t)
	env.UpdateSpec(t, "my", controllertest.ChangedVolumeSpec)
	pod := env.WaitForPreflightPod(t, nil)
	env.AssignToNode(t, pod)
	env.SetPodStatus(t, pod, failedPodStatus(1, ""))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightFailed)
	env.SetProgressReason(t, "my", "NewReplicaSetAvailable")
	env.WaitForCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonReplicasUnavailable)
	env.WaitUntilIdle(t, env.Namespace)
	env.CheckDeploymentUnchanged(t, before)
}
