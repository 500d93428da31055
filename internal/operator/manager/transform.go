package manager

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller"
)

const (
	// touched is the annotation of a cached stack that changes with every label and annotation of the stored stack. The
	// API server rejects a key with a space, so no stored object has it.
	touched = "digest of the metadata"
	// maxAnnotation is the maximum size, in bytes, of a kept annotation of a stack. Only the list of accepted losses is
	// longer than a name. A list that is too long accepts nothing.
	maxAnnotation = 16 << 10
	// maxRecord is the same for a ReplicaSet of a stack. It is the API server's bound, because the record of a rollout
	// grows with the stack.
	maxRecord = 256 << 10
	// maxMessage is the maximum size, in bytes, of a kept message. The kubelet keeps as much of a container's message, and
	// the status shows less.
	maxMessage = 4 << 10
	// maxNote and maxReason are the same for an event. The status shows less of its message.
	maxNote, maxReason = 2 << 10, 64
	// maxImage is the maximum size, in bytes, of a kept image name. The API server bounds no image name in a pod.
	maxImage = 1 << 10
)

// stripStack keeps the parts of stacks that the operator uses. It drops all labels, finalizers and owners, the
// annotations of other programs, and a spec that is too large to be processed. It keeps managed fields only if an
// operator for v1alpha1 wrote the status.
func stripStack(object any) (any, error) {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	if !ok {
		return cache.TransformStripManagedFields()(object)
	}
	if stack.Annotations[touched] != "" {
		return object, nil // the object was transformed before
	}
	validate.OmitLargeSpec(stack)
	kept := &v1alpha2.LlamaStackDistribution{TypeMeta: stack.TypeMeta, Spec: stack.Spec, Status: stack.Status}
	stub.Identity(kept, stack)
	kept.Labels, kept.OwnerReferences = nil, nil
	kept.Annotations = stub.Only(stack.Annotations, maxAnnotation,
		append(names.StackAnnotations(), validate.AnnotationOmittedSpec)...)
	var err error
	kept.Annotations, err = withTouched(kept.Annotations, stack)
	if err != nil {
		return nil, err
	}
	// The operator must not apply a spec from which values were removed, so this mark is never dropped.
	if problem, isUnreadable := stack.Annotations[names.UnreadableSpec]; isUnreadable {
		kept.Annotations[names.UnreadableSpec] = short(problem, maxMessage)
	}
	kept.ManagedFields = controller.OtherStatusWrites(stack.ManagedFields)
	return kept, nil
}

// withTouched adds a digest of the labels and annotations of a stack, without the copy of the last applied manifest.
// Users change any of them to have the stack reconciled again.
func withTouched(annotations map[string]string, stack *v1alpha2.LlamaStackDistribution) (map[string]string, error) {
	all := maps.Clone(stack.Annotations)
	delete(all, corev1.LastAppliedConfigAnnotation)
	text, err := json.Marshal([]map[string]string{all, stack.Labels})
	if err != nil {
		return nil, fmt.Errorf("digest the metadata of stack %q: %w", stack.Name, err)
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[touched] = fmt.Sprintf("%x", sha256.Sum256(text))
	return annotations, nil
}

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
	kept.Status.Reason, kept.Status.Message = short(pod.Status.Reason, maxMessage), short(pod.Status.Message, maxMessage)
	kept.Status.StartTime = pod.Status.StartTime
	kept.Status.InitContainerStatuses = containerStatuses(pod.Status.InitContainerStatuses)
	kept.Status.ContainerStatuses = containerStatuses(pod.Status.ContainerStatuses)
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
			condition.Reason, condition.Message = short(condition.Reason, maxMessage), short(condition.Message, maxMessage)
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
			Image: short(status.Image, maxImage), ImageID: short(status.ImageID, maxImage),
		})
	}
	return kept
}

func state(of corev1.ContainerState) corev1.ContainerState {
	if of.Waiting != nil {
		of.Waiting.Message = short(of.Waiting.Message, maxMessage)
	}
	if of.Terminated != nil {
		of.Terminated.Message = short(of.Terminated.Message, maxMessage)
	}
	return of
}

// short returns the beginning of a text, in a copy so that the rest of the text can be freed.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:most], ""))
}

// installers returns the names and images of the init containers of a pod with external providers, and nil for any
// other pod.
func installers(all []corev1.Container) []corev1.Container {
	if !slices.ContainsFunc(all, func(c corev1.Container) bool { return c.Name == names.ExternalContainer }) {
		return nil
	}
	var kept []corev1.Container
	for i := range all {
		kept = append(kept, corev1.Container{Name: all[i].Name, Image: short(all[i].Image, maxImage)})
	}
	return kept
}

// stripReplicaSet keeps the record, the state and the references to other objects of ReplicaSets. It keeps only the
// identity of a ReplicaSet that the Deployment of a stack does not control.
func stripReplicaSet(object any) (any, error) {
	set, ok := object.(*appsv1.ReplicaSet)
	if !ok {
		return object, nil
	}
	kept := &appsv1.ReplicaSet{TypeMeta: set.TypeMeta}
	stub.Identity(kept, set)
	owner := metav1.GetControllerOfNoCopy(kept)
	if owner == nil || owner.Kind != "Deployment" || owner.Name != names.Deployment(kept.Labels[names.LabelInstance]) {
		return kept, nil
	}
	kept.Annotations = stub.Only(set.Annotations, maxRecord, rollout.ReplicaSetAnnotations()...)
	kept.Spec.Replicas = set.Spec.Replicas
	kept.Spec.Template.Annotations = stub.Only(set.Spec.Template.Annotations, maxRecord, names.AnnotationInputs)
	kept.Spec.Template.Spec = needs(&set.Spec.Template.Spec)
	kept.Status = set.Status
	return kept, nil
}

// needs returns the references of a pod template to objects that the operator creates, and the endpoints of its
// containers (see render.Endpoints).
func needs(pod *corev1.PodSpec) corev1.PodSpec {
	kept := corev1.PodSpec{ServiceAccountName: pod.ServiceAccountName}
	for i := range pod.Volumes {
		if source := pod.Volumes[i].ConfigMap; source != nil {
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
		for _, variable := range pod.Containers[i].Env {
			if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
				container.Env = append(container.Env, corev1.EnvVar{ValueFrom: &corev1.EnvVarSource{
					SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: from.SecretKeyRef.LocalObjectReference},
				}})
			}
		}
		kept.Containers = append(kept.Containers, container)
	}
	return kept
}

// stripMetadata keeps the identity and the version of an object. For children, it also keeps the labels and the
// controller, which the cleanup needs.
func stripMetadata(object any) (any, error) {
	metadata, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	kept := &metav1.PartialObjectMetadata{TypeMeta: metadata.TypeMeta}
	stub.Identity(kept, metadata)
	if kept.Labels[names.LabelManagedBy] != names.ManagedBy {
		kept.Labels, kept.OwnerReferences = nil, nil
	}
	return kept, nil
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
	about := event.InvolvedObject
	if !controller.IsTrouble(event) || !strings.HasSuffix(about.Name, names.PersistentVolumeClaim("")) ||
		len(about.Name)+len(about.UID) > maxImage {
		return kept, nil
	}
	kept.Type, kept.Reason = short(event.Type, maxReason), short(event.Reason, maxReason)
	kept.Message = short(event.Message, maxNote)
	kept.LastTimestamp, kept.EventTime, kept.Series = event.LastTimestamp, event.EventTime, event.Series
	kept.InvolvedObject = corev1.ObjectReference{Namespace: event.Namespace, Name: about.Name, UID: about.UID}
	return kept, nil
}
