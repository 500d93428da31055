package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
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
	Trouble status.Trouble `json:"trouble,omitempty"`
	// Container is the container with the problem.
	Container string      `json:"container,omitempty"`
	Message   string      `json:"message,omitempty"`
	Created   metav1.Time `json:"created"`
}

const revisionAnnotation = "deployment.kubernetes.io/revision"

// workloadOf returns the Deployment with its ReplicaSets and pods, and the pods in which the operator tests a change.
func workloadOf(facts *Facts) (*Deployment, []Pod) {
	var tried []Pod
	for i := range facts.Pods {
		if facts.Pods[i].Labels[names.LabelApp] == names.PreflightApp {
			tried = append(tried, podOf(&facts.Pods[i], facts.Now))
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
			found.ReplicaSets = append(found.ReplicaSets, replicaSetOf(set, facts))
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

func replicaSetOf(set *appsv1.ReplicaSet, facts *Facts) ReplicaSet {
	revision, _ := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	found := ReplicaSet{
		Name: set.Name, Revision: revision, Wanted: ptr.Deref(set.Spec.Replicas, 1), Available: set.Status.AvailableReplicas,
	}
	for i := range facts.Pods {
		if metav1.IsControlledBy(&facts.Pods[i], set) {
			found.Pods = append(found.Pods, podOf(&facts.Pods[i], facts.Now))
		}
	}
	slices.SortFunc(found.Pods, func(a, b Pod) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

func podOf(pod *corev1.Pod, now time.Time) Pod {
	found := Pod{
		Name: pod.Name, State: stateOfPod(pod), Ready: status.IsReady(pod), Created: pod.CreationTimestamp,
	}
	found.Trouble, found.Container, found.Message = status.PodTrouble(pod, now)
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		found.Restarts += container.RestartCount
	}
	return found
}

// stateOfPod returns the state of a pod in the words of kubectl.
func stateOfPod(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return "Terminating"
	}
	initial := len(pod.Status.InitContainerStatuses)
	for i, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		prefix := ""
		if i < initial {
			prefix = "Init:"
		}
		switch waiting, ended := container.State.Waiting, container.State.Terminated; {
		case container.Ready, ended != nil && ended.ExitCode == 0 && i < initial:
		case ended != nil:
			return prefix + cmp.Or(ended.Reason, fmt.Sprintf("ExitCode:%d", ended.ExitCode))
		case waiting != nil && waiting.Reason != "":
			return prefix + waiting.Reason
		}
	}
	return cmp.Or(pod.Status.Reason, string(pod.Status.Phase))
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
	for _, kinds := range [][]status.Trouble{{status.Crashed, status.NotStarted, status.NotScheduled}, {status.NotReady}} {
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
