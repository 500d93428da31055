package status_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

const deadline = 15 * time.Minute

func endedWith(code int32, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: metav1.NewTime(born),
	}}}
}

func onNode(p *corev1.Pod) { p.Spec.NodeName = "n" }

func failed(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = "n"
		p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, reason, message
	}
}

func withCondition(kind corev1.PodConditionType, is corev1.ConditionStatus, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: is, Message: message})
	}
}

const end = deadline + 2*time.Minute

var (
	born         = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	running      = corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	neverStarted = corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 137, Reason: "ContainerStatusUnknown",
	}}}
)

// judgePreflightCases are the cases of TestJudgePreflight.
var judgePreflightCases = []struct {
	name      string
	container corev1.ContainerStatus
	changes   []func(*corev1.Pod)
	age       time.Duration
	want      status.PreflightState
	message   string
	until     time.Duration
}{
	{name: "just created", want: status.PreflightGoesOn, until: time.Minute},
	{
		name: "no room on a node yet", changes: []func(*corev1.Pod){withCondition(corev1.PodScheduled, corev1.ConditionFalse, "0/1 nodes are available")},
		age: 59 * time.Second, want: status.PreflightGoesOn, until: time.Minute, message: `pod "p" cannot be scheduled: 0/1 nodes are available`,
	},
	{
		name: "no room on a node", changes: []func(*corev1.Pod){withCondition(corev1.PodScheduled, corev1.ConditionFalse, "0/1 nodes are available")},
		age: time.Minute, want: status.PreflightUnplaced, message: `pod "p" cannot be scheduled: 0/1 nodes are available`,
	},
	{
		name: "no node can take the pod", want: status.PreflightUnplaced, message: `pod "p" cannot be scheduled: 0/1 nodes are available`,
		changes: []func(*corev1.Pod){
			withCondition(corev1.PodScheduled, corev1.ConditionFalse, "0/1 nodes are available"),
			func(p *corev1.Pod) { p.Status.Conditions[0].Reason = corev1.PodReasonUnschedulable },
		},
	},
	{name: "not scheduled", age: time.Minute, want: status.PreflightUnplaced, message: `the scheduler did not assign pod "p" to a node; see kubectl describe pod p`},
	{name: "runs", container: running, changes: []func(*corev1.Pod){onNode}, want: status.PreflightGoesOn, until: end},
	{
		name: "ready", container: running, want: status.PreflightReady,
		changes: []func(*corev1.Pod){onNode, withCondition(corev1.ContainersReady, corev1.ConditionTrue, ""), withCondition(corev1.PodReady, corev1.ConditionFalse, "")},
	},
	{
		name: "no image", container: waiting("ImagePullBackOff", "not found"), changes: []func(*corev1.Pod){onNode},
		want: status.PreflightHindered, until: end,
		message: `image "example.com/server:1" of container "llama-stack" cannot be pulled: the registry does not have the image; check the name and the tag of the image; see kubectl describe pod p`,
	},
	{
		name: "ends with code 0", container: endedWith(0, "Completed", ""), changes: []func(*corev1.Pod){onNode},
		want:    status.PreflightCrashed,
		message: `container "llama-stack" ended with exit code 0, possibly because its program could not start, or because its health check did not pass in time; see kubectl logs p -c llama-stack`,
	},
	{
		name: "crashes", container: endedWith(1, "Error", "ValidationError: input_value='sk-1'"),
		changes: []func(*corev1.Pod){failed("", "")}, want: status.PreflightCrashed,
		message: `container "llama-stack" crashed with ValidationError: the server rejects its configuration; correct the value that the error names, or restore the earlier spec; see kubectl logs p -c llama-stack`,
	},
	{
		name: "an init container fails", changes: []func(*corev1.Pod){onNode, func(p *corev1.Pod) {
			init := endedWith(1, "Error", "")
			init.Name = "make-directories"
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{init}
		}}, want: status.PreflightCrashed,
		message: `container "make-directories" crashed with exit code 1; see kubectl logs p -c make-directories`,
	},
	{
		name: "an init container is done", container: running, changes: []func(*corev1.Pod){onNode, func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{endedWith(0, "Completed", "")}
		}}, want: status.PreflightGoesOn, until: end,
	},
	{
		name: "past its deadline", container: endedWith(137, "Error", ""),
		changes: []func(*corev1.Pod){failed("DeadlineExceeded", "x")}, want: status.PreflightCrashed,
		message: `container "llama-stack" was not ready after 15 minutes; see kubectl logs p -c llama-stack`,
	},
	{
		name: "past its deadline without a start", container: neverStarted, changes: []func(*corev1.Pod){failed("DeadlineExceeded", "x")}, want: status.PreflightLost,
		message: `pod "p" did not start within 15 minutes; see kubectl describe pod p`,
	},
	{
		name: "a silent kubelet", container: running, changes: []func(*corev1.Pod){onNode}, age: end + time.Second,
		want:    status.PreflightCrashed,
		message: `container "llama-stack" was not ready after 15 minutes; see kubectl logs p -c llama-stack`,
	},
	{
		name: "its node was restarted", container: endedWith(255, "Unknown", ""), changes: []func(*corev1.Pod){onNode},
		want:    status.PreflightLost,
		message: `the result of pod "p" is unknown, possibly because its node was restarted`,
	},
	{
		name: "a kubelet accepts the pod later", container: running, age: end + time.Second, want: status.PreflightGoesOn,
		until: end + time.Minute,
		changes: []func(*corev1.Pod){
			onNode,
			func(p *corev1.Pod) { p.Status.StartTime = new(metav1.NewTime(born.Add(time.Minute))) },
		},
	},
	{
		name: "the scheduler finds no node later", age: 90 * time.Second, want: status.PreflightGoesOn, until: 2 * time.Minute, message: `pod "p" cannot be scheduled: full`,
		changes: []func(*corev1.Pod){withCondition(corev1.PodScheduled, corev1.ConditionFalse, "full"), func(p *corev1.Pod) {
			p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(born.Add(time.Minute))
		}},
	},
	{
		name: "evicted", container: endedWith(137, "Error", ""),
		changes: []func(*corev1.Pod){failed("Evicted", "The node was low on resource: memory.")},
		want:    status.PreflightLost, message: `pod "p" ended (Evicted): The node was low on resource: memory.`,
	},
}

func TestJudgePreflight(t *testing.T) {
	for _, tc := range judgePreflightCases {
		t.Run(tc.name, func(t *testing.T) {
			p := pod("p", tc.container)
			p.CreationTimestamp = metav1.NewTime(born)
			for _, change := range tc.changes {
				change(&p)
			}
			want := status.Preflight{State: tc.want, Message: tc.message}
			if tc.until > 0 {
				want.Until = born.Add(tc.until)
			}
			if got := status.JudgePreflight(&p, nil, deadline, born.Add(tc.age)); got != want {
				t.Errorf("JudgePreflight:\n got %+v\nwant %+v", got, want)
			}
		})
	}
}
