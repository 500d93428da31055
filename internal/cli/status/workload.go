package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Deployment is the Deployment of a stack with its ReplicaSets. Old ReplicaSets without pods are omitted.
type Deployment struct {
	Name        string       `json:"name"`
	Wanted      int32        `json:"wanted"`
	Available   int32        `json:"available"`
	ReplicaSets []ReplicaSet `json:"replicaSets,omitempty"`
}

// ReplicaSet is a revision of a Deployment.
type ReplicaSet struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	// Current reports whether this is the newest revision.
	Current   bool  `json:"current"`
	Wanted    int32 `json:"wanted"`
	Available int32 `json:"available"`
	Pods      []Pod `json:"pods,omitempty"`
}

// Pod is a pod of a stack.
type Pod struct {
	Name string `json:"name"`
	// State is the phase of the pod, or the reason why a container is waiting or has terminated, as in kubectl output.
	State    string `json:"state"`
	Ready    bool   `json:"ready"`
	Restarts int32  `json:"restarts"`
	// Trouble is the kind of problem. Empty means that the pod has no problem.
	Trouble Trouble `json:"trouble,omitempty"`
	// Container is the container with the problem.
	Container string      `json:"container,omitempty"`
	Message   string      `json:"message,omitempty"`
	Created   metav1.Time `json:"created"`
}

// Trouble is the kind of problem that a pod has. It determines the next command.
type Trouble string

const (
	// Crashed means that a container terminated. It may have started again.
	Crashed Trouble = "crashed"
	// NotStarted means that a container cannot be created, for example because its image cannot be pulled.
	NotStarted Trouble = "not started"
	// NotScheduled means that the pod cannot be scheduled onto a node.
	NotScheduled Trouble = "not scheduled"
	// NotReady means that the pod is running but not ready.
	NotReady Trouble = "not ready"
)

const revisionAnnotation = "deployment.kubernetes.io/revision"

// workloadOf returns the Deployment with its ReplicaSets and pods, and the pods in which the operator tests a change.
func workloadOf(facts *Facts) (*Deployment, []Pod) {
	var tried []Pod
	for i := range facts.Pods {
		if facts.Pods[i].Labels[names.LabelApp] == names.PreflightApp {
			tried = append(tried, podOf(&facts.Pods[i]))
		}
	}
	if facts.Deployment == nil {
		return nil, tried
	}
	return deploymentOf(facts), tried
}

func deploymentOf(facts *Facts) *Deployment {
	object := facts.Deployment
	found := &Deployment{
		Name: object.Name, Wanted: ptr.Deref(object.Spec.Replicas, 1), Available: object.Status.AvailableReplicas,
	}
	for i := range facts.ReplicaSets {
		set := &facts.ReplicaSets[i]
		if metav1.IsControlledBy(set, object) {
			found.ReplicaSets = append(found.ReplicaSets, replicaSetOf(set, facts.Pods))
		}
	}
	slices.SortFunc(found.ReplicaSets, func(a, b ReplicaSet) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Name, b.Name))
	})
	if len(found.ReplicaSets) > 0 {
		found.ReplicaSets[0].Current = true
	}
	// A Deployment keeps up to ten earlier revisions without pods. The report omits them.
	found.ReplicaSets = slices.DeleteFunc(found.ReplicaSets, func(set ReplicaSet) bool {
		return !set.Current && set.Wanted == 0 && len(set.Pods) == 0
	})
	return found
}

func replicaSetOf(set *appsv1.ReplicaSet, pods []corev1.Pod) ReplicaSet {
	revision, _ := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	found := ReplicaSet{
		Name: set.Name, Revision: revision, Wanted: ptr.Deref(set.Spec.Replicas, 1), Available: set.Status.AvailableReplicas,
	}
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], set) {
			found.Pods = append(found.Pods, podOf(&pods[i]))
		}
	}
	slices.SortFunc(found.Pods, func(a, b Pod) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

func podOf(pod *corev1.Pod) Pod {
	found := Pod{Name: pod.Name, State: string(pod.Status.Phase), Created: pod.CreationTimestamp}
	if pod.Status.Reason != "" {
		found.State = pod.Status.Reason
	}
	found.readConditions(pod.Status.Conditions)
	initial := len(pod.Status.InitContainerStatuses)
	for i, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		found.Restarts += container.RestartCount
		if found.Trouble == "" && !container.Ready {
			found.read(&container, i < initial)
		}
	}
	if pod.DeletionTimestamp != nil {
		found.State, found.Trouble = "Terminating", ""
	} else if found.Trouble == "" && !found.Ready && pod.Status.Phase == corev1.PodRunning {
		found.Trouble = NotReady
	}
	return found
}

// readConditions records whether the pod is ready. If the pod cannot be scheduled, readConditions also records the
// problem.
func (p *Pod) readConditions(conditions []corev1.PodCondition) {
	for _, condition := range conditions {
		switch {
		case condition.Type == corev1.PodReady:
			p.Ready = condition.Status == corev1.ConditionTrue
		case condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse:
			p.Trouble, p.Message = NotScheduled, condition.Message
		}
	}
}

// read sets the state and the problem of the pod from a container that is not ready. The parameter `initial` reports
// whether the container is an init container.
func (p *Pod) read(container *corev1.ContainerStatus, initial bool) {
	prefix := ""
	if initial {
		prefix = "Init:"
	}
	switch waiting, ended := container.State.Waiting, container.State.Terminated; {
	case ended != nil && ended.ExitCode == 0 && initial:
	case ended != nil:
		p.State = prefix + cmp.Or(ended.Reason, fmt.Sprintf("ExitCode:%d", ended.ExitCode))
		p.Trouble, p.Container = Crashed, container.Name
	case waiting != nil && container.LastTerminationState.Terminated != nil:
		p.State, p.Trouble, p.Container, p.Message = prefix+waiting.Reason, Crashed, container.Name, waiting.Message
	case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing" &&
		waiting.Reason != "ContainerCreating":
		p.State, p.Trouble, p.Container, p.Message = prefix+waiting.Reason, NotStarted, container.Name, waiting.Message
	case waiting != nil && waiting.Reason != "" && !initial:
		p.State = waiting.Reason
	case container.LastTerminationState.Terminated != nil: // the container is running again
		p.Trouble, p.Container = Crashed, container.Name
	case initial:
		p.State = prefix + container.Name
	}
}

// troubled returns the pod with the most urgent problem, or nil if no pod has a problem. Like the condition Available,
// it prefers pods of the newest revision, unless they are only not ready yet. Preflight pods come first.
func (r *Report) troubled() *Pod {
	groups := [][]Pod{r.Preflight}
	if r.Deployment != nil {
		for i := range r.Deployment.ReplicaSets {
			groups = append(groups, r.Deployment.ReplicaSets[i].Pods)
		}
	}
	for _, kinds := range [][]Trouble{{Crashed, NotStarted, NotScheduled}, {NotReady}} {
		for _, pods := range groups {
			for _, kind := range kinds {
				if i := slices.IndexFunc(pods, func(pod Pod) bool { return pod.Trouble == kind }); i >= 0 {
					return &pods[i]
				}
			}
		}
	}
	return nil
}

// servingEarlier returns the number of pods of earlier revisions that serve requests.
func (d *Deployment) servingEarlier() int32 {
	var serving int32
	for i := range d.ReplicaSets {
		if set := &d.ReplicaSets[i]; !set.Current {
			serving += set.Available
		}
	}
	return serving
}
