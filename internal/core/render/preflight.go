package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// PreflightDeadline is the time limit of a preflight, including the image pull and the start of the server. It is the
	// same as for a rollout. After this time, the kubelet stops the pod, even if the operator was removed.
	PreflightDeadline = progressDeadline * time.Second
	// preflightGrace is the grace period in seconds. It is short, because the pod serves no requests.
	preflightGrace = 10
)

// Preflight is a change to test in a separate pod.
type Preflight struct {
	// Template is the pod template to test. The package does not change it.
	Template *corev1ac.PodTemplateSpecApplyConfiguration
	// Constraint is the OpenShift security context constraint that admits the running pods. Empty means that the cluster
	// has no such constraints.
	Constraint string
	// Derived is the content of the Secret with derived values. Nil means that the stack has no such Secret.
	Derived map[string][]byte
}

// PreflightName returns the name of the pod in which the operator tests a template, and of all objects created for that
// pod.
func PreflightName(stack string, template *corev1ac.PodTemplateSpecApplyConfiguration) (string, error) {
	anyGeneration := *template
	anyGeneration.ObjectMetaApplyConfiguration = withoutGeneration(template.ObjectMetaApplyConfiguration)
	data, err := json.Marshal(anyGeneration)
	if err != nil {
		return "", fmt.Errorf("digest the pod template: %w", err)
	}
	sum := sha256.Sum256(data)
	return names.Preflight(stack, hex.EncodeToString(sum[:])), nil
}

// withoutGeneration removes the stack's generation, because a change to the spec that does not affect the pods needs no
// new preflight.
func withoutGeneration(metadata *metav1ac.ObjectMetaApplyConfiguration) *metav1ac.ObjectMetaApplyConfiguration {
	if metadata == nil {
		return nil
	}
	result := *metadata
	result.Annotations = maps.Clone(metadata.Annotations)
	delete(result.Annotations, names.AnnotationGeneration)
	return &result
}

// PreflightObjects returns the objects that only the preflight pod needs, followed by the pod, in apply order. The
// objects for the pod are copies of the running pods' objects that a rollout changes in place, and, if the stack has a
// NetworkPolicy, a policy that allows no incoming connections.
func PreflightObjects(in Input, preflight Preflight) ([]Object, error) {
	name, err := PreflightName(in.Stack.Name, preflight.Template)
	if err != nil {
		return nil, err
	}
	objects, err := preflightCopies(in, preflight, name)
	if err != nil {
		return nil, err
	}
	limits, err := networkPolicy(in)
	if err != nil {
		return nil, err
	}
	if limits != nil {
		objects = append(objects, Object{GVK: policyKind, Name: name, Apply: preflightPolicy(in, name)})
	}
	pod, err := preflightPod(in, preflight, name)
	if err != nil {
		return nil, err
	}
	return append(objects, Object{GVK: podKind, Name: name, Apply: pod}), nil
}

// preflightCopies returns copies of the running pods' objects that a rollout changes in place: the CA bundle and the
// Secret with derived values.
func preflightCopies(in Input, preflight Preflight, name string) (objects []Object, err error) {
	bundle, err := caBundle(in)
	if bundle != nil {
		objects = append(objects, Object{GVK: configMapKind, Name: name, Apply: bundle.WithName(name)})
	}
	if preflight.Derived != nil {
		secret, _ := StorageSecret(in, preflight.Derived).Apply.(*corev1ac.SecretApplyConfiguration)
		objects = append(objects, Object{GVK: secretKind, Name: name, Apply: secret.WithName(name)})
	}
	return objects, err
}

// preflightPolicy returns a policy that allows no incoming connections. The kubelet can still connect.
func preflightPolicy(in Input, name string) *networkingv1ac.NetworkPolicyApplyConfiguration {
	return owned(in, networkingv1ac.NetworkPolicy, name).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(names.PreflightSelector(in.Stack.Name))).
			WithPolicyTypes(networkingv1.PolicyTypeIngress))
}

// preflightPod returns a pod with the template. No selector of the stack matches the pod. It runs once, and writes only
// to its own volumes.
func preflightPod(in Input, preflight Preflight, name string) (*corev1ac.PodApplyConfiguration, error) {
	template, err := applyConfiguration[*corev1ac.PodTemplateSpecApplyConfiguration]("pod template", preflight.Template)
	if err != nil {
		return nil, err
	}
	template.WithLabels(names.PreflightLabels(in.Stack.Name))
	spec := template.Spec
	ownCopies(in, preflight, spec, name)
	scratch(in, spec)
	ownRegistry(in, spec)
	withoutDrain(spec)
	spec.WithReadinessGates(corev1ac.PodReadinessGate().WithConditionType(names.PreflightGate)).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithActiveDeadlineSeconds(int64(PreflightDeadline / time.Second)).
		WithTerminationGracePeriodSeconds(preflightGrace)
	annotations := merged(template.Annotations)
	delete(annotations, names.AnnotationRequiredConstraint)
	if preflight.Constraint != "" {
		annotations[names.AnnotationRequiredConstraint] = preflight.Constraint
	}
	return corev1ac.Pod(name, in.Stack.Namespace).
		WithLabels(template.Labels).
		WithAnnotations(annotations).
		WithOwnerReferences(owner(in.Stack)...).
		WithSpec(spec), nil
}

// ownCopies makes the pod read the copies that the operator creates for it.
func ownCopies(in Input, preflight Preflight, spec *corev1ac.PodSpecApplyConfiguration, name string) {
	for i := range spec.Volumes {
		source := spec.Volumes[i].ConfigMap
		if in.CABundle != nil && source != nil && ptr.Deref(source.Name, "") == names.CABundle(in.Stack.Name) {
			source.WithName(name)
		}
	}
	for _, container := range containers(spec) {
		for i := range container.Env {
			from := container.Env[i].ValueFrom
			if preflight.Derived == nil || from == nil || from.SecretKeyRef == nil {
				continue
			}
			if ptr.Deref(from.SecretKeyRef.Name, "") == storageSecret(in) {
				from.SecretKeyRef.WithName(name)
			}
		}
	}
}

// If the preflight pod shares a store with the running pods, ownRegistry gives the preflight pod a separate registry in
// this store. The resources that the preflight pod registers could otherwise break a running pod that restarts.
func ownRegistry(in Input, spec *corev1ac.PodSpecApplyConfiguration) {
	if in.Registry == nil {
		return
	}
	own := []*corev1ac.EnvVarApplyConfiguration{corev1ac.EnvVar().WithName(names.EnvPreflight).WithValue("true")}
	if in.Registry.Namespace != "" {
		own = append(own, corev1ac.EnvVar().WithName(names.EnvRegistry).WithValue(in.Registry.Namespace+"/preflight"))
	}
	for _, container := range containers(spec) {
		if name := ptr.Deref(container.Name, ""); isExternal(in, name) ||
			(name == names.ModelFilesContainer && modelFilesImage(in) != nil) {
			continue
		}
		container.Env = slices.DeleteFunc(container.Env, func(e corev1ac.EnvVarApplyConfiguration) bool {
			return ptr.Deref(e.Name, "") == names.EnvRegistry
		})
		container.WithEnv(own...)
	}
}

// scratch replaces the server's data with an empty volume, and makes all other volumes that outlive the pod read-only.
func scratch(in Input, spec *corev1ac.PodSpecApplyConfiguration) {
	data := dataVolumes(in, spec)
	for i := range spec.Volumes {
		volume := &spec.Volumes[i]
		if !outlives(volume) {
			continue
		}
		if !slices.Contains(data, ptr.Deref(volume.Name, "")) {
			readOnly(spec, ptr.Deref(volume.Name, ""))
			continue
		}
		empty := corev1ac.EmptyDirVolumeSource()
		if storage := workload(&in.Stack.Spec).Storage; storage != nil {
			empty.WithSizeLimit(storageSize(storage))
		}
		*volume = *corev1ac.Volume().WithName(*volume.Name).WithEmptyDir(empty)
	}
}

// SharedVolumes returns the volumes of a template that outlive a pod, except the server's data and the model files.
// Users might not expect a second pod on such a volume.
func SharedVolumes(in Input, template *corev1ac.PodTemplateSpecApplyConfiguration) []string {
	data := dataVolumes(in, template.Spec)
	var shared []string
	for i := range template.Spec.Volumes {
		if volume := &template.Spec.Volumes[i]; outlives(volume) && !isModelFiles(volume) &&
			!slices.Contains(data, ptr.Deref(volume.Name, "")) {
			shared = append(shared, ptr.Deref(volume.Name, ""))
		}
	}
	return shared
}

// dataVolumes returns the operator's data volume, and volumes that the user mounts in its place.
func dataVolumes(in Input, spec *corev1ac.PodSpecApplyConfiguration) []string {
	found := []string{names.DataVolume}
	for _, container := range containers(spec) {
		for _, mount := range container.VolumeMounts {
			if path.Clean(ptr.Deref(mount.MountPath, "")) == path.Clean(MountPath(&in.Stack.Spec)) {
				found = append(found, ptr.Deref(mount.Name, ""))
			}
		}
	}
	return found
}

// outlives reports whether the content of a volume is kept after its pod is deleted.
func outlives(volume *corev1ac.VolumeApplyConfiguration) bool {
	source := volume.VolumeSourceApplyConfiguration
	passes := source.EmptyDir != nil || source.ConfigMap != nil || source.Secret != nil || source.DownwardAPI != nil ||
		source.Projected != nil || source.Image != nil || source.Ephemeral != nil || source.CSI != nil
	return !passes && source != (corev1ac.VolumeSourceApplyConfiguration{})
}

func readOnly(spec *corev1ac.PodSpecApplyConfiguration, volume string) {
	for _, container := range containers(spec) {
		for i := range container.VolumeMounts {
			if ptr.Deref(container.VolumeMounts[i].Name, "") == volume {
				container.VolumeMounts[i].WithReadOnly(true)
			}
		}
	}
}

// containers returns pointers to the containers of a pod, beginning with the init containers.
func containers(spec *corev1ac.PodSpecApplyConfiguration) []*corev1ac.ContainerApplyConfiguration {
	var all []*corev1ac.ContainerApplyConfiguration
	for i := range spec.InitContainers {
		all = append(all, &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	return all
}
