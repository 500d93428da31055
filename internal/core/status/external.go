package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ExternalProvider is an external provider in the spec.
type ExternalProvider struct {
	// API and ID identify the provider in the server. Image is the image in the spec.
	API, ID, Image string
	// Path is the path of the provider's entry in the spec, such as spec.externalProviders.inference[0].
	Path string
	// Type and Module are from the image's label. Empty means that they are unknown until the pods start.
	Type, Module string
}

// ExternalInput is the input of ExternalProviders.
type ExternalInput struct {
	Providers []ExternalProvider
	// Deployment, ReplicaSets and Pods have the same meaning as in WorkloadInput.
	Deployment  *appsv1.Deployment
	ReplicaSets []appsv1.ReplicaSet
	Pods        []corev1.Pod
	// Tried lists the preflight pods for a change if the Deployment has no pods with this change yet.
	Tried []corev1.Pod
	// Listed lists the providers that the running server reports. Nil means that the server reports no providers, or that
	// it was not queried.
	Listed []v1alpha2.ProviderInfo
	Now    time.Time
}

// ExternalProviders determines the progress of each external provider's installation in the newest pods. until is the
// time at which the result may change without an event. Zero means never.
func ExternalProviders(in ExternalInput) (judged []v1alpha2.ExternalProviderStatus, until time.Time) {
	pods := newestPods(in)
	ended := make([]int, 0, len(pods))
	for i := range pods {
		ended = append(ended, endedContainers(&pods[i]))
	}
	for i := range in.Providers {
		provider := &in.Providers[i]
		found := state{phase: v1alpha2.ExternalProviderPending}
		for p := range pods {
			found = further(found, externalState(&pods[p], ended[p], provider, in.Providers, in.Now))
		}
		if found.message == "" {
			found.message = movedTag(provider, pods)
		}
		if found.message == "" && found.phase == v1alpha2.ExternalProviderReady {
			found.message = listedOtherwise(provider, in.Listed)
		}
		if !found.until.IsZero() && (until.IsZero() || found.until.Before(until)) {
			until = found.until
		}
		judged = append(judged, v1alpha2.ExternalProviderStatus{
			ProviderID: provider.ID, Image: provider.Image, Phase: found.phase,
			Message:           takenOver(found.message),
			InitContainerName: names.ExternalCopyContainer(provider.ID),
		})
	}
	return judged, until
}

// newestPods returns the preflight pods or, if there are none, the pods of the newest template, sorted by name. It
// omits pods that are being deleted. It returns no pods until the cluster has created the ReplicaSet of the newest
// template.
func newestPods(in ExternalInput) []corev1.Pod {
	pods := slices.Clone(in.Tried)
	if len(pods) == 0 && in.Deployment != nil {
		current := currentSet(in.Deployment, in.ReplicaSets)
		if current == nil || inputsOf(&current.Spec.Template) != inputsOf(&in.Deployment.Spec.Template) {
			return nil
		}
		pods = slices.DeleteFunc(slices.Clone(in.Pods),
			func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, current) })
	}
	pods = slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

func inputsOf(template *corev1.PodTemplateSpec) string {
	return template.Annotations[names.AnnotationInputs]
}

// state describes the progress of an external provider's installation in a pod.
type state struct {
	phase   v1alpha2.ExternalProviderPhase
	message string
	until   time.Time
}

// externalRank lists the phases from lowest to highest. If pods have different phases, the highest phase applies, so
// the provider is ready if it is ready in one pod.
var externalRank = []v1alpha2.ExternalProviderPhase{
	v1alpha2.ExternalProviderPending, v1alpha2.ExternalProviderInstalling, v1alpha2.ExternalProviderFailed,
	v1alpha2.ExternalProviderReady,
}

// further returns the state with the higher phase. If both phases are equal, it returns the first state.
func further(a, b state) state {
	if slices.Index(externalRank, b.phase) > slices.Index(externalRank, a.phase) {
		return b
	}
	return a
}

// externalState describes the progress of a provider's installation in one pod. ended is the number of consecutive init
// containers of the pod, from the first one on, that have ended.
func externalState(
	pod *corev1.Pod, ended int, provider *ExternalProvider, all []ExternalProvider, now time.Time,
) state {
	own := names.ExternalCopyContainer(provider.ID)
	turn := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == own && isImage(c.Image, provider.Image)
	})
	if turn < 0 { // the pod does not install the provider from this image
		return state{phase: v1alpha2.ExternalProviderPending}
	}
	if isTrue(pod, corev1.PodReady) || isTrue(pod, corev1.ContainersReady) {
		return state{phase: v1alpha2.ExternalProviderReady}
	}
	if replaced(pod) {
		return state{phase: v1alpha2.ExternalProviderPending}
	}
	if message := externalFailure(pod, provider, all, now); message != "" {
		return state{phase: v1alpha2.ExternalProviderFailed, message: message}
	}
	copying := initStatus(pod, own)
	if copying == nil || ended < turn {
		return state{phase: v1alpha2.ExternalProviderPending}
	}
	found := state{phase: v1alpha2.ExternalProviderInstalling}
	if running := copying.State.Running; running != nil {
		found.until = running.StartedAt.Add(copyLimit)
	}
	return found
}

// replaced reports whether another pod replaces this pod, for example because this pod was evicted or its node was shut
// down.
func replaced(pod *corev1.Pod) bool {
	reason := pod.Status.Reason
	return pod.Status.Phase == corev1.PodFailed && reason != "" && reason != deadlineReason && tooMuch(pod) == ""
}

// endedContainers returns the number of consecutive init containers, from the first one on, that have ended.
func endedContainers(pod *corev1.Pod) int {
	ended := map[string]bool{}
	for i := range pod.Status.InitContainerStatuses {
		container := &pod.Status.InitContainerStatuses[i]
		ended[container.Name] = hasEnded(container)
	}
	for i := range pod.Spec.InitContainers {
		if !ended[pod.Spec.InitContainers[i].Name] {
			return i
		}
	}
	return len(pod.Spec.InitContainers)
}

// isImage reports whether a container has the image in the spec, with or without a digest.
func isImage(image, wanted string) bool {
	return image == wanted || strings.HasPrefix(image, wanted+"@")
}

// initStatus returns the status of an init container. Nil means that the kubelet has not reported it yet.
func initStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for i := range pod.Status.InitContainerStatuses {
		if pod.Status.InitContainerStatuses[i].Name == name {
			return &pod.Status.InitContainerStatuses[i]
		}
	}
	return nil
}

// hasEnded reports whether an init container has completed. A sidecar counts as completed when it is ready.
func hasEnded(container *corev1.ContainerStatus) bool {
	return container != nil && (container.Ready || container.State.Terminated != nil &&
		container.State.Terminated.ExitCode == 0)
}

// movedTag returns a message if the pods copied the package from different images because the tag has moved. The
// message is empty if the images are the same or unknown.
func movedTag(provider *ExternalProvider, pods []corev1.Pod) string {
	if strings.Contains(provider.Image, "@") {
		return ""
	}
	var digests []string
	for i := range pods {
		container := initStatus(&pods[i], names.ExternalCopyContainer(provider.ID))
		if container == nil {
			continue
		}
		if _, digest, ok := strings.Cut(container.ImageID, "@"); ok && !slices.Contains(digests, digest) {
			digests = append(digests, digest)
		}
	}
	if len(digests) < 2 {
		return ""
	}
	slices.Sort(digests)
	return fmt.Sprintf("the pods run different images under the same name, for example %s and %s; to select one of the images, add its digest to the image reference", digests[0], digests[1])
}

// listedOtherwise returns a message if the running server does not list a provider, or lists it with an API or a type
// that differs from that in the spec or in the image's label. The message is empty if the API and the type match, or if
// the server lists no providers.
func listedOtherwise(provider *ExternalProvider, listed []v1alpha2.ProviderInfo) string {
	if len(listed) == 0 {
		return ""
	}
	elsewhere := ""
	for i := range listed {
		switch found := &listed[i]; {
		case found.ProviderID != provider.ID:
		case found.API != provider.API:
			elsewhere = found.API
		case provider.Type != "" && found.ProviderType != provider.Type:
			return fmt.Sprintf("the image's label specifies the type %q, but the running server reports and uses the type %q; correct the label", provider.Type, found.ProviderType)
		default:
			return ""
		}
	}
	if elsewhere != "" {
		return fmt.Sprintf("the spec lists the provider under the API %q, but the running server lists the provider under %q; see the server's log", provider.API, elsewhere)
	}
	return fmt.Sprintf("the running server does not list the provider under the API %q; see the server's log",
		provider.API)
}
