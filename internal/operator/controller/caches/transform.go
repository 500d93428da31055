package caches

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

const (
	// maxPod and maxReplicaSet are the maximum sizes in memory, in bytes, of what a cache holds of a pod or a ReplicaSet.
	// Anyone can create many of them, with the owners and labels of those of stacks, and with many containers. Only pods
	// have a part for each external provider.
	maxPod        = 64 << 10
	maxReplicaSet = 32 << 10
	// maxMessage is the maximum size, in bytes, of a kept message. The kubelet keeps as much of a container's message, and
	// the status shows less.
	maxMessage = 4 << 10
	// maxNote and maxReason are the same for an event. The API server accepts no longer note in an event of the newer API.
	maxNote, maxReason = 1 << 10, 64
	// maxImage is the maximum size, in bytes, of a kept image name. The API server bounds no image name in a pod.
	maxImage = 1 << 10
)

// stripPod keeps the parts of pods that the status depends on. Any client can create a pod with the labels of a stack.
// Unless a ReplicaSet or a stack controls the pod, stripPod keeps only whether it is ready, because such a pod can
// answer requests to the Service.
func stripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	kept := &corev1.Pod{TypeMeta: pod.TypeMeta}
	stub.Identity(kept, pod)
	kept.Status.Phase = pod.Status.Phase
	kept.Status.Conditions = podConditions(pod.Status.Conditions)
	if kind := controllerKind(kept); kind != "ReplicaSet" && kind != v1alpha2.Kind {
		return kept, nil
	}
	kept.Annotations = stub.Only(pod.Annotations, validation.DNS1123SubdomainMaxLength, names.AnnotationConstraint)
	kept.Spec.NodeName, kept.Spec.InitContainers = pod.Spec.NodeName, installers(pod.Spec.InitContainers)
	kept.Spec.HostNetwork = pod.Spec.HostNetwork
	kept.Status.PodIP, kept.Status.HostIP = pod.Status.PodIP, pod.Status.HostIP
	kept.Status.Reason = stub.Short(pod.Status.Reason, maxMessage)
	kept.Status.Message = stub.Short(pod.Status.Message, maxMessage)
	kept.Status.StartTime = pod.Status.StartTime
	kept.Status.InitContainerStatuses = containerStatuses(pod.Status.InitContainerStatuses)
	kept.Status.ContainerStatuses = containerStatuses(pod.Status.ContainerStatuses)
	if stub.Exceeds(kept, maxPod) { // the status then lacks the progress of external providers
		kept.Spec.InitContainers, kept.Status.InitContainerStatuses, kept.Status.ContainerStatuses = nil, nil, nil
	}
	return kept, nil
}

func controllerKind(object metav1.Object) string {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return controller.Kind
	}
	return ""
}

// podConditions keeps the conditions of Kubernetes. Readiness gates can add conditions with any name.
func podConditions(all []corev1.PodCondition) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, condition := range all {
		switch condition.Type {
		case corev1.PodReady, corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.DisruptionTarget:
			condition.Reason = stub.Short(condition.Reason, maxMessage)
			condition.Message = stub.Short(condition.Message, maxMessage)
			kept = append(kept, condition)
		default:
		}
	}
	return kept
}

// containerStatuses drops the parts of the statuses that repeat the spec of the pod.
func containerStatuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, status := range all {
		kept = append(kept, corev1.ContainerStatus{
			Name: status.Name, State: state(status.State), LastTerminationState: state(status.LastTerminationState),
			Ready: status.Ready, Started: status.Started, RestartCount: status.RestartCount,
			Image: stub.Short(status.Image, maxImage), ImageID: stub.Short(status.ImageID, maxImage),
		})
	}
	return kept
}

func state(of corev1.ContainerState) corev1.ContainerState {
	if of.Waiting != nil {
		of.Waiting.Message = stub.Short(of.Waiting.Message, maxMessage)
	}
	if of.Terminated != nil {
		of.Terminated.Message = stub.Short(of.Terminated.Message, maxMessage)
	}
	return of
}

// installers returns the names and images of the init containers of a pod with external providers, and nil for any
// other pod.
func installers(all []corev1.Container) []corev1.Container {
	if !slices.ContainsFunc(all, func(c corev1.Container) bool { return c.Name == names.ExternalContainer }) {
		return nil
	}
	var kept []corev1.Container
	for i := range all {
		kept = append(kept, corev1.Container{Name: all[i].Name, Image: stub.Short(all[i].Image, maxImage)})
	}
	return kept
}

// stripReplicaSet keeps the record, the state and the references to other objects of ReplicaSets. It keeps only the
// identity of a ReplicaSet that the Deployment of a stack does not control, or that would still be large.
func stripReplicaSet(object any) (any, error) {
	set, ok := object.(*appsv1.ReplicaSet)
	if !ok {
		return object, nil
	}
	identity := &appsv1.ReplicaSet{TypeMeta: set.TypeMeta}
	stub.Identity(identity, set)
	stack := identity.Labels[names.LabelInstance]
	owner := metav1.GetControllerOfNoCopy(identity)
	if owner == nil || owner.Kind != "Deployment" || owner.Name != names.Deployment(stack) {
		return identity, nil
	}
	kept := identity.DeepCopy()
	kept.Annotations = rollout.Past(set.Annotations)
	kept.Spec.Replicas = set.Spec.Replicas
	kept.Spec.Template.Annotations = stub.Only(set.Spec.Template.Annotations, maxMessage, names.AnnotationInputs)
	kept.Spec.Template.Spec = needs(&set.Spec.Template.Spec, stack)
	kept.Status = set.Status
	if stub.Exceeds(kept, maxReplicaSet) {
		return identity, nil
	}
	return kept, nil
}

// needs returns the references of a pod template to objects that the operator creates for a stack, and the endpoints of
// its containers (see render.Endpoints).
func needs(pod *corev1.PodSpec, stack string) corev1.PodSpec {
	kept := corev1.PodSpec{ServiceAccountName: pod.ServiceAccountName}
	for i := range pod.Volumes {
		if source := pod.Volumes[i].ConfigMap; source != nil && strings.HasPrefix(source.Name, stack+"-") {
			kept.Volumes = append(kept.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: source.LocalObjectReference},
			}})
		}
	}
	for i := range pod.Containers {
		container := corev1.Container{Name: pod.Containers[i].Name}
		if probe := pod.Containers[i].StartupProbe; probe != nil && probe.HTTPGet != nil {
			container.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Scheme: probe.HTTPGet.Scheme,
			}}}
		}
		if port := render.ServerPort(pod.Containers[i].Ports); port != nil {
			container.Ports = []corev1.ContainerPort{*port}
		}
		container.Env = storageSecrets(pod.Containers[i].Env, stack)
		if container.Ports != nil || container.Env != nil {
			kept.Containers = append(kept.Containers, container)
		}
	}
	return kept
}

// storageSecrets returns one variable for each Secret with derived values of a stack that the variables of a container
// refer to. Users' own Secrets are never deleted.
func storageSecrets(all []corev1.EnvVar, stack string) []corev1.EnvVar {
	var kept []corev1.EnvVar
	seen := map[string]bool{}
	for _, variable := range all {
		from := variable.ValueFrom
		if from == nil || from.SecretKeyRef == nil || seen[from.SecretKeyRef.Name] ||
			!names.IsStorageSecret(stack, from.SecretKeyRef.Name) {
			continue
		}
		seen[from.SecretKeyRef.Name] = true
		kept = append(kept, corev1.EnvVar{ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: from.SecretKeyRef.LocalObjectReference},
		}})
	}
	return kept
}

// stripMetadata keeps the identity and the version of an object. For children, it also keeps the labels and the
// controller, which the cleanup needs. It changes the object in place, because there can be tens of thousands.
func stripMetadata(object any) (any, error) {
	metadata, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	var kept metav1.ObjectMeta
	stub.Identity(&kept, metadata)
	if kept.Labels[names.LabelManagedBy] != names.ManagedBy {
		kept.Labels, kept.OwnerReferences = nil, nil
	}
	metadata.ObjectMeta = kept
	return metadata, nil
}

// stripEvent keeps the parts of an event about a claim that the status depends on. Of an event that is not about a
// problem with the claim of a stack, it keeps only the identity: no quota limits the number of events.
func stripEvent(object any) (any, error) {
	event, ok := object.(*corev1.Event)
	if !ok {
		return object, nil
	}
	kept := &corev1.Event{TypeMeta: event.TypeMeta}
	stub.Identity(kept, event)
	kept.Labels, kept.OwnerReferences = nil, nil
	about := event.InvolvedObject
	if !IsTrouble(event) || !strings.HasSuffix(about.Name, names.PersistentVolumeClaim("")) ||
		len(about.Name) > validation.DNS1123SubdomainMaxLength || len(about.UID) > maxReason {
		return kept, nil
	}
	kept.Type, kept.Reason = stub.Short(event.Type, maxReason), stub.Short(event.Reason, maxReason)
	kept.Message = stub.Short(event.Message, maxNote)
	kept.LastTimestamp, kept.EventTime, kept.Series = event.LastTimestamp, event.EventTime, event.Series
	kept.InvolvedObject = corev1.ObjectReference{Namespace: event.Namespace, Name: about.Name, UID: about.UID}
	return kept, nil
}
