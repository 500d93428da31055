package status_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// deployment returns a Deployment with these numbers in its status.
func deployment(wanted, replicas, updated, available int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "my", UID: "d", Generation: 1},
		Spec:       appsv1.DeploymentSpec{Replicas: new(wanted)},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: replicas, UpdatedReplicas: updated, AvailableReplicas: available,
		},
	}
}

func replicaSet(name, revision string, available int32) appsv1.ReplicaSet {
	return appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("rs-" + name), Annotations: map[string]string{"deployment.kubernetes.io/revision": revision},
			OwnerReferences: []metav1.OwnerReference{{UID: "d", Controller: new(true)}},
		},
		Status: appsv1.ReplicaSetStatus{AvailableReplicas: available},
	}
}

func pod(name string, container corev1.ContainerStatus) corev1.Pod {
	container.Name = "llama-stack"
	container.Image = "example.com/server:1"
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{container}},
	}
}

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
	}}
}

func progressing(d *appsv1.Deployment, reason string) *appsv1.Deployment {
	d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: reason,
	})
	return d
}

// overdue returns a Deployment whose rollout has taken too long.
func overdue() *appsv1.Deployment {
	return progressing(deployment(1, 1, 1, 0), "ProgressDeadlineExceeded")
}

func preparedPod() corev1.Pod {
	p := pod("p", running)
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
	}
	return p
}

func preparingPod() corev1.Pod {
	p := pod("p", waiting("PodInitializing", ""))
	initial := running
	initial.Name = "model-files"
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{initial}
	return p
}

// sidecarPod returns a pod with a sidecar whose health check does not pass.
func sidecarPod() corev1.Pod {
	p := preparingPod()
	p.Status.ContainerStatuses = nil
	initialized := corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}
	p.Status.Conditions = append(p.Status.Conditions, initialized)
	return p
}

func evictedPod() corev1.Pod {
	terminated := &corev1.ContainerStateTerminated{ExitCode: 137}
	p := pod("p", corev1.ContainerStatus{State: corev1.ContainerState{Terminated: terminated}})
	p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted",
		"The node was low on resource: memory."
	return p
}

func refusedSet() appsv1.ReplicaSet {
	set := replicaSet("new", "2", 0)
	set.Status.Conditions = []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
		Message: `admission webhook "policy" denied the request: no`,
	}}
	return set
}

func staleDeployment() *appsv1.Deployment {
	d := deployment(1, 1, 1, 1)
	d.Generation = 2
	return d
}

func deploymentRefused(message string) *appsv1.Deployment {
	d := deployment(1, 0, 0, 0)
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: message,
	}}
	return d
}

// current is the part of a message after the numbers of replicas.
const current = " replicas available with current config"

var (
	crashedOnce = corev1.ContainerStatus{
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 3,
			Message:  "token sk-1",
		}},
	}
	endedOnce = corev1.ContainerStatus{
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3}},
	}
	killed = corev1.ContainerStatus{
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
	}
	unscheduled = corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available",
		}}},
	}
)

// workloadCases are the cases of TestWorkload, with the status, the reason and the message of the condition Available.
var workloadCases = []struct {
	name       string
	deployment *appsv1.Deployment
	sets       []appsv1.ReplicaSet
	pods       []corev1.Pod
	want       string
}{
	{name: "nothing yet", want: "Unknown Waiting Nothing is deployed yet"},
	{name: "complete", deployment: deployment(1, 1, 1, 1), want: "True MinimumReplicasAvailable 1/1" + current},
	{name: "zero", deployment: deployment(0, 0, 0, 0), want: "True ScaledToZero Scaled to zero replicas, as requested"},
	{
		name: "an old pod, and a change that the Deployment controller has not processed", deployment: staleDeployment(),
		sets: []appsv1.ReplicaSet{replicaSet("old", "1", 1), replicaSet("new", "2", 0)},
		want: "False RolloutInProgress 0/1" + current,
	},
	{name: "not processed by the Deployment controller", deployment: staleDeployment(), want: "False RolloutInProgress 1/1" + current},
	{name: "starting", deployment: deployment(2, 2, 2, 1), want: "False RolloutInProgress 1/2" + current},
	{name: "old pods serve, without ReplicaSets", deployment: deployment(2, 3, 1, 2), want: "False RolloutInProgress 0/2" + current},
	{
		name: "old pods serve, with ReplicaSets", deployment: deployment(2, 3, 2, 2),
		sets: []appsv1.ReplicaSet{replicaSet("old", "9", 1), replicaSet("new", "10", 1), {}},
		want: "False RolloutInProgress 1/2" + current,
	},
	{
		name: "a pod becomes unavailable after the rollout", want: "False ReplicasUnavailable 0/1" + current,
		deployment: progressing(deployment(1, 1, 1, 0), "NewReplicaSetAvailable"),
	},
	{name: "deadline", deployment: overdue(), want: "False RolloutFailed 0/1" + current},
	{
		name:       "limit range",
		deployment: deploymentRefused(`Pod "p" is invalid: spec.containers[0].resources.requests: Invalid value: "1Gi": must be less than or equal to memory limit of 512Mi`),
		want:       "False RolloutFailed 0/1" + current + `: pods cannot be created: Pod "p" is invalid: spec.containers[0].resources.requests: Invalid value: "1Gi": must be less than or equal to memory limit of 512Mi; set spec.workload.resources`,
	},
	{
		name: "rejected by admission", deployment: deployment(1, 0, 0, 0), sets: []appsv1.ReplicaSet{refusedSet()},
		want: "False RolloutFailed 0/1" + current + `: pods cannot be created: admission webhook "policy" denied the request: no`,
	},
	{
		name: "an init container has ended", deployment: deployment(1, 1, 1, 0), pods: []corev1.Pod{preparedPod()},
		want: "False RolloutInProgress 0/1" + current,
	},
	{
		name: "evicted", deployment: deployment(1, 1, 1, 0), pods: []corev1.Pod{evictedPod()},
		want: "False RolloutInProgress 0/1" + current + `: pod "p" ended (Evicted): The node was low on resource: memory.`,
	},
	{
		name: "a crash takes precedence over an eviction", deployment: deployment(2, 2, 2, 0),
		pods: []corev1.Pod{evictedPod(), pod("q", killed)},
		want: "False RolloutFailed 0/2" + current + `: container "llama-stack" ran out of memory; raise the memory limit of the container (for the server, spec.workload.resources.limits.memory)`,
	},
	{
		name: "runs past the deadline", deployment: overdue(), pods: []corev1.Pod{pod("p", running)},
		want: "False RolloutFailed 0/1" + current + `: container "llama-stack" is running, but its health check does not pass; see kubectl logs p -c llama-stack`,
	},
	{
		name: "an init container runs past the deadline", deployment: overdue(), pods: []corev1.Pod{preparingPod()},
		want: "False RolloutFailed 0/1" + current + `: init container "model-files" is still running, and the server is waiting for it; see kubectl logs p -c model-files`,
	},
	{
		name: "a sidecar is not ready past the deadline", deployment: overdue(), pods: []corev1.Pod{sidecarPod()},
		want: "False RolloutFailed 0/1" + current + `: container "model-files" is running, but its health check does not pass; see kubectl logs p -c model-files`,
	},
	{
		name: "waits past the deadline", deployment: overdue(), pods: []corev1.Pod{pod("p", waiting("ContainerCreating", ""))},
		want: "False RolloutFailed 0/1" + current + `: container "llama-stack" is waiting (ContainerCreating); see kubectl describe pod p`,
	},
	{
		name: "configuration", deployment: deployment(1, 1, 1, 0),
		pods: []corev1.Pod{pod("p", waiting("CreateContainerConfigError", `secret "a" not found`))},
		want: "False RolloutFailed 0/1" + current + `: container "llama-stack" cannot be started (CreateContainerConfigError): secret "a" not found`,
	},
	{
		name: "crash, and the container runs again", deployment: deployment(1, 1, 1, 0), pods: []corev1.Pod{pod("p", crashedOnce)},
		want: "False RolloutFailed 0/1" + current + `: container "llama-stack" crashed with exit code 3; see kubectl logs p -c llama-stack --previous`,
	},
	{
		name: "unschedulable", deployment: deployment(1, 1, 1, 0), pods: []corev1.Pod{unscheduled},
		want: "False RolloutInProgress 0/1" + current + `: pod "p" cannot be scheduled: 0/3 nodes are available`,
	},
	{
		name: "a fatal problem takes precedence over the order of names", deployment: deployment(2, 2, 2, 0),
		pods: []corev1.Pod{pod("q", endedOnce), unscheduled},
		want: "False RolloutFailed 0/2" + current + `: container "llama-stack" crashed with exit code 3; see kubectl logs q -c llama-stack --previous`,
	},
	{
		name: "pods of older revisions do not count", deployment: deployment(1, 2, 1, 1),
		sets: []appsv1.ReplicaSet{replicaSet("new", "2", 0)}, pods: []corev1.Pod{pod("p", endedOnce)},
		want: "False RolloutInProgress 0/1" + current,
	},
	{
		name: "starting containers are not a failure", deployment: deployment(1, 1, 1, 0),
		pods: []corev1.Pod{pod("p", waiting("ContainerCreating", ""))}, want: "False RolloutInProgress 0/1" + current,
	},
}

func TestWorkload(t *testing.T) {
	for _, tc := range workloadCases {
		t.Run(tc.name, func(t *testing.T) {
			in := status.WorkloadInput{Deployment: tc.deployment, ReplicaSets: tc.sets, Pods: tc.pods}
			got := status.Workload(in).Available
			if diff := cmp.Diff(tc.want, fmt.Sprint(got.Status, " ", got.Reason, " ", got.Message)); diff != "" {
				t.Errorf("Available (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEarlierConfig checks that pods of an earlier spec are not reported as pods of the current spec.
func TestEarlierConfig(t *testing.T) {
	for want, deployment := range map[string]*appsv1.Deployment{
		"1/1 replicas available with an earlier config": deployment(1, 1, 1, 1),
		"0/1 replicas available with an earlier config": deployment(1, 1, 1, 0),
		"Scaled to zero replicas":                       deployment(0, 0, 0, 0),
	} {
		got := status.Workload(status.WorkloadInput{Deployment: deployment, Earlier: true}).Available
		if got.Message != want {
			t.Errorf("message %q, want %q", got.Message, want)
		}
	}
}

// TestKeptTemplate checks that a kept template is named as a cause, with the remedy, if its probe may have stopped the
// server or if its image cannot be pulled, and not after another problem.
func TestKeptTemplate(t *testing.T) {
	const remedy = "`kubectl rollout restart deployment/"
	for _, tc := range []struct {
		container corev1.ContainerStatus
		kept      bool
		names     bool
	}{
		{container: stopped(137), kept: true, names: true},
		{container: stopped(0), kept: true, names: true},
		{container: waiting("ImagePullBackOff", ""), kept: true, names: true},
		{container: stopped(3), kept: true},
		{container: stopped(137)},
	} {
		got := status.Workload(status.WorkloadInput{
			Deployment: deployment(1, 1, 1, 0), Pods: []corev1.Pod{pod("p", tc.container)}, Kept: tc.kept,
		}).Available.Message
		if strings.Contains(got, remedy) != tc.names {
			t.Errorf("kept %t, the message names the remedy: want %t: %s", tc.kept, tc.names, got)
		}
	}
}

func stopped(code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "llama-stack", RestartCount: 1, LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error"},
	}}
}

// TestPendingClaim checks that a claim without a volume is reported as the reason why a pod cannot be scheduled, and
// that a crash takes precedence.
func TestPendingClaim(t *testing.T) {
	claim := status.PendingClaim{Name: "my-pvc", Message: "no such class"}
	crashed := pod("p", ended(3, "Error", ""))
	for name, tc := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"no pod yet":  {nil, "RolloutInProgress 0/1" + current + `: PersistentVolumeClaim "my-pvc" has no volume: no such class`},
		"unscheduled": {[]corev1.Pod{unscheduled}, "RolloutInProgress 0/1" + current + `: PersistentVolumeClaim "my-pvc" has no volume: no such class`},
		"crashed": {
			[]corev1.Pod{crashed}, `RolloutFailed 0/1 replicas available with current config: container "llama-stack" crashed with exit code 3; ` +
				`see kubectl logs p -c llama-stack --previous`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := status.Workload(status.WorkloadInput{
				Deployment: deployment(1, 1, 1, 0), Pods: tc.pods,
				Claims: []status.PendingClaim{claim},
			}).Available
			if text := got.Reason + " " + got.Message; text != tc.want {
				t.Errorf("Available:\n got %s\nwant %s", text, tc.want)
			}
		})
	}
}

// TestNodeStopped checks that a container that starts again after its node stopped is not reported as a crash, and that
// a crash after that is.
func TestNodeStopped(t *testing.T) {
	complete := deployment(1, 1, 1, 0)
	complete.Status.Conditions = []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentProgressing, Reason: "NewReplicaSetAvailable"},
	}
	last := func(reason string, code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{
			Name: "llama-stack", RestartCount: 1, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code},
			},
		}
	}
	for name, tc := range map[string]struct {
		container corev1.ContainerStatus
		want      string
	}{
		"starting again": {last("Unknown", 255), `ReplicasUnavailable 0/1 replicas available with current config: ` +
			`container "llama-stack" is starting again after its node stopped`},
		"crashed since": {last("Error", 255), `RolloutFailed 0/1 replicas available with current config: ` +
			`container "llama-stack" crashed with exit code 255; see kubectl logs p -c llama-stack --previous`},
	} {
		t.Run(name, func(t *testing.T) {
			in := status.WorkloadInput{Deployment: complete, Pods: []corev1.Pod{pod("p", tc.container)}}
			got := status.Workload(in).Available
			if text := got.Reason + " " + got.Message; text != tc.want {
				t.Errorf("Available:\n got %s\nwant %s", text, tc.want)
			}
		})
	}
}

// TestEarlierPodThatCrashes checks that the crash of a pod from an earlier revision is reported, and that the rollout
// does not fail because of it. The crash of a terminating pod is not reported. The crash of an earlier pod is also not
// reported while no newer pod serves requests.
func TestEarlierPodThatCrashes(t *testing.T) {
	sets := []appsv1.ReplicaSet{replicaSet("old", "1", 0), replicaSet("new", "2", 1)}
	of := func(set int, pod corev1.Pod) corev1.Pod {
		pod.OwnerReferences = []metav1.OwnerReference{{UID: sets[set].UID, Controller: new(true)}}
		return pod
	}
	crashed := of(0, pod("p", ended(1, "Error", "ValueError: already exists with conflicting field values")))
	deleted := crashed
	deleted.DeletionTimestamp = &metav1.Time{}
	ready := corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	const none = "RolloutInProgress 1/2 replicas available with current config"
	for name, tc := range map[string]struct {
		pods      []corev1.Pod
		available int32
		want      string
	}{
		"the pod crashes": {
			[]corev1.Pod{of(1, pod("q", ready)), crashed},
			1,
			none + `: pod "p" of an earlier revision does not serve requests: container "llama-stack" crashed with ValueError; ` +
				`see kubectl logs p -c llama-stack --previous`,
		},
		"the pod is terminating": {[]corev1.Pod{of(1, pod("q", ready)), deleted}, 1, none},
		"the pod serves":         {[]corev1.Pod{of(1, pod("q", ready)), of(0, pod("p", ready))}, 1, none},
		"no newer pod serves":    {[]corev1.Pod{crashed}, 0, "RolloutInProgress 0/2 replicas available with current config"},
	} {
		t.Run(name, func(t *testing.T) {
			sets[1].Status.AvailableReplicas = tc.available
			got := status.Workload(status.WorkloadInput{
				Deployment: deployment(2, 3, 1, tc.available), ReplicaSets: sets,
				Pods: tc.pods,
			}).Available
			if text := got.Reason + " " + got.Message; text != tc.want {
				t.Errorf("Available:\n got %s\nwant %s", text, tc.want)
			}
		})
	}
}
