package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// DefaultMountPath is where the data volume is mounted when
	// workload.storage.mountPath is unset.
	DefaultMountPath = "/.llama"
	// DefaultStorageSize is the size of the volume when workload.storage.size
	// is unset.
	DefaultStorageSize = "10Gi"
)

// WorkloadSpec says how the server runs (FR-012).
type WorkloadSpec struct {
	// replicas is the number of pods; 0 stops the server and keeps its data.
	// Unset: 1. With autoscaling the autoscaler owns it.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// workers is the number of server processes in a pod. Unset: 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Workers *int32 `json:"workers,omitempty"`

	// resources of the server's container. Unset: requests of 1Gi memory and
	// one CPU per worker.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// autoscaling adds a HorizontalPodAutoscaler. Unset: none.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`

	// storage adds a PersistentVolumeClaim for the server's data. Unset: an
	// emptyDir, lost with the pod.
	// +optional
	Storage *VolumeSpec `json:"storage,omitempty"`

	// podDisruptionBudget of the pods. Unset: one with maxUnavailable 1 when
	// there is more than one replica.
	// +optional
	PodDisruptionBudget *PodDisruptionBudgetSpec `json:"podDisruptionBudget,omitempty"`

	// topologySpreadConstraints of the pods. Unset: spread over nodes and zones
	// where possible when there is more than one replica.
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// preflight boots a new image or configuration in a pod of its own before a
	// running pod is stopped: Auto, Always or Never. Unset: Auto, which does so
	// only where pods are stopped before others start (storage for one pod at a
	// time) and nothing but that storage has data: file-based stores, no volume of
	// yours that outlives a pod, no extended resources such as GPUs, no command of
	// your own. A stack that was made as v1alpha1: Never.
	// +kubebuilder:validation:Enum=Auto;Always;Never
	// +optional
	Preflight PreflightMode `json:"preflight,omitempty"`

	// overrides changes the pod in ways the other fields do not offer.
	// +optional
	Overrides *WorkloadOverrides `json:"overrides,omitempty"`
}

// PreflightMode says when a new configuration is tried in a pod of its own.
type PreflightMode string

const (
	// PreflightAuto tries where it is safe and useful: never against a shared
	// database.
	PreflightAuto PreflightMode = "Auto"
	// PreflightAlways tries before every change of image or configuration, with the
	// databases that the configuration names.
	PreflightAlways PreflightMode = "Always"
	// PreflightNever never tries.
	PreflightNever PreflightMode = "Never"
)

// AutoscalingSpec is a HorizontalPodAutoscaler.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.minReplicas) || !has(self.maxReplicas) || self.maxReplicas >= self.minReplicas`,message=`must not be less than minReplicas: raise maxReplicas or lower minReplicas`,messageExpression=`'%d is less than minReplicas, %d: raise maxReplicas or lower minReplicas'.format([self.maxReplicas, self.minReplicas])`,fieldPath=`.maxReplicas`,reason=FieldValueInvalid
type AutoscalingSpec struct {
	// minReplicas is the lower bound, at least 1. Unset: 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the upper bound, at least minReplicas. Required.
	// +kubebuilder:validation:Minimum=1
	// +required
	MaxReplicas int32 `json:"maxReplicas"`

	// targetCPUUtilization in percent of the requested CPU. Unset: 80 when
	// targetMemoryUtilization is unset too.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	TargetCPUUtilization *int32 `json:"targetCPUUtilization,omitempty"`

	// targetMemoryUtilization in percent of the requested memory. Unset: memory
	// is not looked at.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	TargetMemoryUtilization *int32 `json:"targetMemoryUtilization,omitempty"`
}

// VolumeSpec is the volume for the server's data.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.size) || (type(self.size) == int ? self.size > 0 : (!isQuantity(self.size) || quantity(self.size).isGreaterThan(quantity('0'))))`,message=`must be more than 0: write one like 10Gi`,messageExpression=`'"' + string(self.size) + '" is not a size: write one like 10Gi'`,fieldPath=`.size`,reason=FieldValueInvalid
type VolumeSpec struct {
	// size of the volume. Unset: 10Gi. It may grow, not shrink.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// mountPath is where the volume is mounted, absolute. Unset: /.llama.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(/[^/:]+)+/?$') && !self.matches('(^|/)[.][.]?(/|$)')`,messageExpression=`'"' + self + '" is not an absolute path: write one like /.llama, without ":", "." and ".."'`
	// +optional
	MountPath string `json:"mountPath,omitempty"`

	// storageClassName of the claim. Unset: the cluster's default class. Empty:
	// a volume that exists already, as in a claim.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`

	// accessModes of the claim. Unset: ReadWriteOnce.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:Enum=ReadWriteOnce;ReadOnlyMany;ReadWriteMany;ReadWriteOncePod
	// +optional
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`

	// retainOnDelete keeps the claim when the object is deleted. Unset: false.
	// +optional
	RetainOnDelete bool `json:"retainOnDelete,omitempty"`
}

// PodDisruptionBudgetSpec holds exactly one of its two fields.
//
// +kubebuilder:validation:XValidation:rule=`has(self.minAvailable) || has(self.maxUnavailable)`,message=`needs minAvailable or maxUnavailable`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.minAvailable) || !has(self.maxUnavailable)`,message=`minAvailable and maxUnavailable are mutually exclusive: remove one of them`,messageExpression=`'minAvailable "' + string(self.minAvailable) + '" and maxUnavailable "' + string(self.maxUnavailable) + '" are mutually exclusive: remove one of them'`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.minAvailable) || (type(self.minAvailable) == int ? self.minAvailable >= 0 : self.minAvailable.matches('^([0-9]{1,2}|100)%$'))`,message=`write a number of pods or a percentage, 1 or "50%"`,messageExpression=`'"' + string(self.minAvailable) + '" is neither a number of pods nor a percentage: write 1 or "50%"'`,fieldPath=`.minAvailable`,reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule=`!has(self.maxUnavailable) || (type(self.maxUnavailable) == int ? self.maxUnavailable >= 0 : self.maxUnavailable.matches('^([0-9]{1,2}|100)%$'))`,message=`write a number of pods or a percentage, 1 or "50%"`,messageExpression=`'"' + string(self.maxUnavailable) + '" is neither a number of pods nor a percentage: write 1 or "50%"'`,fieldPath=`.maxUnavailable`,reason=FieldValueInvalid
type PodDisruptionBudgetSpec struct {
	// minAvailable pods, a number or a percentage.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// maxUnavailable pods, a number or a percentage.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// WorkloadOverrides changes the pod. The user's entry wins over the operator's
// of the same name or path.
//
// Its lists have one owner each in server-side apply, and may be empty, as in a
// pod: a list that is a map by name would have the API server refuse every later
// write to an object of an older version in which a name stands twice.
type WorkloadOverrides struct {
	// serviceAccountName of the pods, made by the user. Unset: <name>-sa, made
	// by the operator.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a ServiceAccount: use lower-case letters, digits, "-" and ".", and begin and end with a letter or digit'`
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// imagePullSecrets of the pods.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// imagePullPolicy of the server's image. Unset: Kubernetes' default.
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

	// env is added to the server's container.
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom is added to the server's container.
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// command in place of the image's entrypoint.
	// +optional
	Command []string `json:"command,omitempty"`

	// args of the entrypoint or command.
	// +optional
	Args []string `json:"args,omitempty"`

	// volumes are added to the pods.
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// volumeMounts are added to the server's container.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// terminationGracePeriodSeconds of the pods: how long a server that is ended may
	// take to finish its requests. Unset: 120; 30 for a stack of v1alpha1.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// podTemplate is a strategic merge patch on the pod template, applied last.
	// It may not change the selector's labels, the server container's name or
	// image, or remove the operator's volumes.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:MinProperties=1
	// +optional
	PodTemplate *apiextensionsv1.JSON `json:"podTemplate,omitempty"`
}
