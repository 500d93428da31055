package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// DefaultContainerName is the name of the server's container if containerSpec.name is unset.
const DefaultContainerName = "llama-stack"

// ServerSpec configures the server and how it runs.
type ServerSpec struct {
	// distribution selects the server: a known name or an image. Required.
	// +required
	Distribution DistributionSpec `json:"distribution"`

	// containerSpec changes the server's container.
	// +optional
	ContainerSpec *ContainerSpec `json:"containerSpec,omitempty"`

	// workers is the number of server processes in a pod. Defaults to 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Workers *int32 `json:"workers,omitempty"`

	// podOverrides changes the pod.
	// +optional
	PodOverrides *PodOverrides `json:"podOverrides,omitempty"`

	// podDisruptionBudget limits voluntary disruptions of the pods. If the field is unset and there is more than one
	// replica, maxUnavailable is 1.
	// +optional
	PodDisruptionBudget *PodDisruptionBudgetSpec `json:"podDisruptionBudget,omitempty"`

	// topologySpreadConstraints spread the pods across the cluster. If the field is unset and there is more than one
	// replica, the pods are spread across regions, zones and nodes where possible.
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// autoscaling adds a HorizontalPodAutoscaler. If unset, or if maxReplicas is 0, there is no autoscaler.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`

	// storage adds a PersistentVolumeClaim for the server's data, and sets where the server keeps its state. If unset, the
	// server loses its files when the pod is deleted, and most of them even when the container restarts.
	// +optional
	Storage *StorageSpec `json:"storage,omitempty"`

	// userConfig selects a ConfigMap with the complete server configuration.
	// +optional
	UserConfig *UserConfigSpec `json:"userConfig,omitempty"`

	// tlsConfig configures which certificates the server trusts in outgoing calls.
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`

	// providers configures the server's providers for each API, as in v1alpha2. A provider can also have config
	// (settings in v1alpha2), region and deploymentName. The server ignores deploymentName.
	// +optional
	Providers *v1alpha2.ProvidersSpec `json:"providers,omitempty"`

	// resources registers models, tools and shields, as in v1alpha2.
	// +optional
	Resources *v1alpha2.ResourcesSpec `json:"resources,omitempty"`

	// disabled lists the APIs and providers that the server must not have, as in v1alpha2.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=128
	// +optional
	Disabled []string `json:"disabled,omitempty"`

	// externalProviders adds providers from container images, as in v1alpha2.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	ExternalProviders map[string]v1alpha2.ExternalProviders `json:"externalProviders,omitempty"`
}

// DistributionSpec selects the server that runs.
//
// +kubebuilder:validation:XValidation:rule=`!(has(self.name) && has(self.image) && size(self.name) > 0 && size(self.image) > 0)`,message=`name and image are mutually exclusive: remove one of them`
type DistributionSpec struct {
	// name is the name of a distribution that the operator supports, for example starter. Null means unset.
	// +nullable
	// +optional
	Name string `json:"name,omitempty"`

	// image is a reference to a distribution image.
	// +optional
	Image string `json:"image,omitempty"`
}

// ContainerSpec changes the server's container.
type ContainerSpec struct {
	// name is the name of the container.
	// +kubebuilder:default=llama-stack
	// +optional
	Name string `json:"name,omitempty"`

	// port is the port that the server listens on. Defaults to 8321. The stack has a Service only if port or env is
	// set.
	// +optional
	Port int32 `json:"port,omitempty"`

	// resources are the resources of the container. If unset, the container requests 1Gi of memory and one CPU per
	// worker.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// env lists environment variables that are added to the container.
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// command replaces the image's entrypoint.
	// +optional
	Command []string `json:"command,omitempty"`

	// args are the arguments to the entrypoint or to command.
	// +optional
	Args []string `json:"args,omitempty"`
}

// PodOverrides changes the pod.
type PodOverrides struct {
	// serviceAccountName is the name of a ServiceAccount that you create for the pods. If unset, the operator creates
	// <name>-sa.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// terminationGracePeriodSeconds is the grace period of the pods. Defaults to 30, which is the Kubernetes default.
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// volumes are added to the pods.
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// volumeMounts are added to the server's container.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
}

// PodDisruptionBudgetSpec limits how many pods can be unavailable at the same time because of voluntary disruptions.
type PodDisruptionBudgetSpec struct {
	// minAvailable is the minimum number of available pods, as a number or a percentage.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// maxUnavailable is the maximum number of unavailable pods, as a number or a percentage.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// AutoscalingSpec configures a HorizontalPodAutoscaler.
type AutoscalingSpec struct {
	// minReplicas is the lower bound. Defaults to 1. The autoscaler does not scale below spec.replicas.
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the upper bound. It must not be less than minReplicas. If it is less than spec.replicas, the
	// operator uses spec.replicas instead. 0 disables autoscaling. Required.
	// +required
	MaxReplicas int32 `json:"maxReplicas"`

	// targetCPUUtilizationPercentage is the target CPU utilization, as a percentage of the requested CPU. Defaults to 80
	// if targetMemoryUtilizationPercentage is unset too.
	// +optional
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`

	// targetMemoryUtilizationPercentage is the target memory utilization, as a percentage of the requested memory. If
	// unset, the autoscaler ignores memory.
	// +optional
	TargetMemoryUtilizationPercentage *int32 `json:"targetMemoryUtilizationPercentage,omitempty"`
}

// StorageSpec configures the volume for the server's data, and the stores for its state. {} means a volume with all
// defaults.
type StorageSpec struct {
	// size is the size of the volume. Defaults to 10Gi.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// mountPath is the path at which the volume is mounted. Defaults to /.llama.
	// +optional
	MountPath string `json:"mountPath,omitempty"`

	// kv is the key-value store, as in v1alpha2.
	// +optional
	KV *v1alpha2.KVStorageSpec `json:"kv,omitempty"`

	// sql is the relational store, as in v1alpha2.
	// +optional
	SQL *v1alpha2.SQLStorageSpec `json:"sql,omitempty"`
}

// UserConfigSpec selects a ConfigMap with a complete configuration.
type UserConfigSpec struct {
	// configMapName is the name of the ConfigMap. An empty name disables userConfig. Required.
	// +required
	ConfigMapName string `json:"configMapName"`

	// configMapNamespace is the namespace of the ConfigMap. The operator reads a ConfigMap in another namespace only if
	// its annotation llamastack.io/allow-namespaces names the stack's namespace. Defaults to the stack's namespace.
	// +optional
	ConfigMapNamespace string `json:"configMapNamespace,omitempty"`
}

// TLSConfig configures which certificates the server trusts in outgoing calls.
type TLSConfig struct {
	// caBundle adds certificates that the server trusts.
	// +optional
	CABundle *CABundleConfig `json:"caBundle,omitempty"`
}

// CABundleConfig selects a ConfigMap with PEM certificates.
type CABundleConfig struct {
	// configMapName is the name of the ConfigMap. Required.
	// +required
	ConfigMapName string `json:"configMapName"`

	// configMapNamespace is the namespace of the ConfigMap, as in userConfig. Defaults to the stack's namespace.
	// +optional
	ConfigMapNamespace string `json:"configMapNamespace,omitempty"`

	// configMapKeys lists the keys to read, at most 50. Defaults to ca-bundle.crt.
	// +kubebuilder:validation:MaxItems=50
	// +optional
	ConfigMapKeys []string `json:"configMapKeys,omitempty"`
}
