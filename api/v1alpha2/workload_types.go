package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// DefaultMountPath is the path at which the data volume is mounted if workload.storage.mountPath is unset.
	DefaultMountPath = "/.llama"
	// DefaultStorageSize is the size of the volume if workload.storage.size is unset.
	DefaultStorageSize = "10Gi"
)

// WorkloadSpec configures how the server runs (FR-012).
type WorkloadSpec struct {
	// replicas is the number of pods. Set 0 to stop the server and keep its data. Defaults to 1. With autoscaling, the
	// autoscaler sets the number.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// workers is the number of server processes in a pod. Defaults to 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Workers *int32 `json:"workers,omitempty"`

	// resources are the resources of the server's container. If unset, the container requests 1Gi of memory and one CPU
	// per worker.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// autoscaling adds a HorizontalPodAutoscaler. If unset, there is no autoscaler.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`

	// storage adds a PersistentVolumeClaim for the server's data. If unset, the server loses its files when the pod is
	// deleted, and most of them even when the container restarts.
	// +optional
	Storage *VolumeSpec `json:"storage,omitempty"`

	// podDisruptionBudget limits voluntary disruptions of the pods. If the field is unset and there is more than one
	// replica, maxUnavailable is 1.
	// +optional
	PodDisruptionBudget *PodDisruptionBudgetSpec `json:"podDisruptionBudget,omitempty"`

	// topologySpreadConstraints spread the pods across the cluster. If the field is unset and there is more than one
	// replica, the pods are spread across regions, zones and nodes where possible.
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// preflight determines whether the operator tests a new image or configuration in a separate pod before it stops a
	// running pod: Auto, Always or Never. With Auto, the operator does this only if pods on different nodes cannot use the
	// volume of workload.storage at the same time, so that a pod must stop before the next pod starts. Auto also skips the
	// test if the server does not store all its data in files, or if you add any of these to the pods: volumes that
	// outlive a pod, extended resources such as GPUs, or a custom command. Defaults to Auto. For a stack that was created
	// as v1alpha1, the default is Never.
	// +kubebuilder:validation:Enum=Auto;Always;Never
	// +optional
	Preflight PreflightMode `json:"preflight,omitempty"`

	// overrides changes the parts of the pod that the other fields do not cover.
	// +optional
	Overrides *WorkloadOverrides `json:"overrides,omitempty"`
}

// PreflightMode determines when a new image or configuration is tested in a separate pod.
type PreflightMode string

const (
	// PreflightAuto tests a change if a preflight pod is safe and useful, but never with a shared database.
	PreflightAuto PreflightMode = "Auto"
	// PreflightAlways tests every change to the image or configuration, with the databases in the configuration.
	PreflightAlways PreflightMode = "Always"
	// PreflightNever does not test changes.
	PreflightNever PreflightMode = "Never"
)

// AutoscalingSpec configures a HorizontalPodAutoscaler.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.minReplicas) || !has(self.maxReplicas) || self.maxReplicas >= self.minReplicas`,message=`must not be less than minReplicas: raise maxReplicas or lower minReplicas`,messageExpression=`'%d is less than minReplicas, %d: raise maxReplicas or lower minReplicas'.format([self.maxReplicas, self.minReplicas])`,fieldPath=`.maxReplicas`,reason=FieldValueInvalid
type AutoscalingSpec struct {
	// minReplicas is the lower bound, at least 1. Defaults to 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the upper bound, at least minReplicas. Required.
	// +kubebuilder:validation:Minimum=1
	// +required
	MaxReplicas int32 `json:"maxReplicas"`

	// targetCPUUtilization is the target CPU utilization, as a percentage of the requested CPU. Defaults to 80 if
	// targetMemoryUtilization is unset too.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	TargetCPUUtilization *int32 `json:"targetCPUUtilization,omitempty"`

	// targetMemoryUtilization is the target memory utilization, as a percentage of the requested memory. If unset, the
	// autoscaler ignores memory.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	TargetMemoryUtilization *int32 `json:"targetMemoryUtilization,omitempty"`
}

// VolumeSpec configures the volume for the server's data.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.size) || (type(self.size) == int ? self.size > 0 : !self.size.matches('^(-[0-9.]|[+]?[0.]+([KMGTPEnumke]|$))'))`,message=`must be greater than 0: write a size such as 10Gi`,messageExpression=`'"' + string(self.size) + '" is not a size greater than 0: write a size such as 10Gi'`,fieldPath=`.size`,reason=FieldValueInvalid
type VolumeSpec struct {
	// size is the size of the volume. Defaults to 10Gi. You can increase the size, but not decrease it.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// mountPath is the absolute path at which the volume is mounted. Defaults to /.llama.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(/[^/:]+)+/?$') && !self.matches('(^|/)[.][.]?(/|$)')`,messageExpression=`'"' + self + '" is not an absolute path: write a path such as /.llama, without ":", without "//" and without the segments "." and ".."'`
	// +optional
	MountPath string `json:"mountPath,omitempty"`

	// storageClassName is the storage class of the PersistentVolumeClaim. If unset, the cluster's default class is
	// used. If empty, the claim binds to an existing volume without a class.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`

	// accessModes are the access modes of the PersistentVolumeClaim. Defaults to ReadWriteOnce.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:Enum=ReadWriteOnce;ReadOnlyMany;ReadWriteMany;ReadWriteOncePod
	// +optional
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`

	// retainOnDelete keeps the PersistentVolumeClaim when the object is deleted. Defaults to false.
	// +optional
	RetainOnDelete bool `json:"retainOnDelete,omitempty"`
}

// PodDisruptionBudgetSpec limits how many pods can be unavailable at the same time because of voluntary disruptions.
// Exactly one of its fields must be set.
//
// +kubebuilder:validation:XValidation:rule=`has(self.minAvailable) || has(self.maxUnavailable)`,message=`set either minAvailable or maxUnavailable`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.minAvailable) || !has(self.maxUnavailable)`,message=`minAvailable and maxUnavailable are mutually exclusive: remove one of them`,messageExpression=`'minAvailable "' + string(self.minAvailable) + '" and maxUnavailable "' + string(self.maxUnavailable) + '" are mutually exclusive: remove one of them'`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.minAvailable) || (type(self.minAvailable) == int ? self.minAvailable >= 0 : self.minAvailable.matches('^([0-9]{1,2}|100)%$'))`,message=`must be a number of pods or a percentage: use a value such as 1 or "50%"`,messageExpression=`'"' + string(self.minAvailable) + '" is neither a number of pods nor a percentage: use a value such as 1 or "50%"'`,fieldPath=`.minAvailable`,reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule=`!has(self.maxUnavailable) || (type(self.maxUnavailable) == int ? self.maxUnavailable >= 0 : self.maxUnavailable.matches('^([0-9]{1,2}|100)%$'))`,message=`must be a number of pods or a percentage: use a value such as 1 or "50%"`,messageExpression=`'"' + string(self.maxUnavailable) + '" is neither a number of pods nor a percentage: use a value such as 1 or "50%"'`,fieldPath=`.maxUnavailable`,reason=FieldValueInvalid
type PodDisruptionBudgetSpec struct {
	// minAvailable is the minimum number of available pods, as a number or a percentage.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// maxUnavailable is the maximum number of unavailable pods, as a number or a percentage.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// WorkloadOverrides changes the pod. Your entry replaces the operator's entry that has the same name or path.
//
// In server-side apply, each list in WorkloadOverrides has one owner. Each list can be empty. The lists do not have the
// list type map. With that type, if a list of an object from an older version had two entries with the same name, the
// API server would reject every later write to that object.
type WorkloadOverrides struct {
	// serviceAccountName is the name of a ServiceAccount that you create for the pods. If unset, the operator creates
	// <name>-sa.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a ServiceAccount: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."'`
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// imagePullSecrets lists the pull Secrets for the pods.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// imagePullPolicy is the pull policy of the server's image. If unset, the Kubernetes default applies.
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// podLabels are added to the pods.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`!('app' in self) && !('app.kubernetes.io/instance' in self)`,message=`app and app.kubernetes.io/instance select the pods of the Deployment and cannot be changed: remove them`
	// +optional
	PodLabels map[string]string `json:"podLabels,omitempty"`

	// podAnnotations are added to the pods.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// env lists environment variables that are added to the server's container.
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom lists sources of environment variables that are added to the server's container.
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// command replaces the image's entrypoint.
	// +optional
	Command []string `json:"command,omitempty"`

	// args are the arguments to the entrypoint or to command.
	// +optional
	Args []string `json:"args,omitempty"`

	// volumes are added to the pods.
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// volumeMounts are added to the server's container.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// terminationGracePeriodSeconds is the time that a server has to finish its requests when its pod is stopped. Defaults
	// to 120, or to 30 for a v1alpha1 stack.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// podTemplate is a strategic merge patch for the pod template. It is applied last. It must not change the selector
	// labels, or the name or image of the server's container, and it must not remove the operator's volumes.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:MinProperties=1
	// +optional
	PodTemplate *apiextensionsv1.JSON `json:"podTemplate,omitempty"`
}
