package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// DefaultContainerName is the name of the server's container when
// containerSpec.name is unset.
const DefaultContainerName = "llama-stack"

// ServerSpec is the server and how it runs.
type ServerSpec struct {
	// distribution says which server runs: a known name or an image. Required.
	// +required
	Distribution DistributionSpec `json:"distribution"`

	// containerSpec changes the server's container.
	// +optional
	ContainerSpec *ContainerSpec `json:"containerSpec,omitempty"`

	// workers is the number of server processes in a pod. Unset: 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Workers *int32 `json:"workers,omitempty"`

	// podOverrides changes the pod.
	// +optional
	PodOverrides *PodOverrides `json:"podOverrides,omitempty"`

	// podDisruptionBudget of the pods. Unset: one with maxUnavailable 1 when
	// there is more than one replica.
	// +optional
	PodDisruptionBudget *PodDisruptionBudgetSpec `json:"podDisruptionBudget,omitempty"`

	// topologySpreadConstraints of the pods. Unset: spread over nodes and zones
	// where possible when there is more than one replica.
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// autoscaling adds a HorizontalPodAutoscaler. Unset, or with maxReplicas 0:
	// none.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`

	// storage adds a PersistentVolumeClaim for the server's data, and says where
	// the server keeps its state. Unset: an emptyDir, lost with the pod.
	// +optional
	Storage *StorageSpec `json:"storage,omitempty"`

	// userConfig takes the whole server configuration from a ConfigMap.
	// +optional
	UserConfig *UserConfigSpec `json:"userConfig,omitempty"`

	// tlsConfig is trust for the server's outgoing calls.
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`

	// providers configures the server's providers, API by API, as in v1alpha2. A
	// provider may also say config (v1alpha2: settings), region and
	// deploymentName; the server ignores the last from release 0.3 on.
	// +optional
	Providers *v1alpha2.ProvidersSpec `json:"providers,omitempty"`

	// resources registers models, tools and shields, as in v1alpha2.
	// +optional
	Resources *v1alpha2.ResourcesSpec `json:"resources,omitempty"`

	// disabled lists API names the server shall not serve, as in v1alpha2.
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

// DistributionSpec names the server that runs.
//
// +kubebuilder:validation:XValidation:rule=`!(has(self.name) && has(self.image) && size(self.name) > 0 && size(self.image) > 0)`,message=`name and image are mutually exclusive: remove one of them`
type DistributionSpec struct {
	// name is a distribution the operator knows, for example starter. Null is
	// unset.
	// +nullable
	// +optional
	Name string `json:"name,omitempty"`

	// image is a reference to a distribution image.
	// +optional
	Image string `json:"image,omitempty"`
}

// ContainerSpec changes the server's container.
type ContainerSpec struct {
	// name of the container.
	// +kubebuilder:default=llama-stack
	// +optional
	Name string `json:"name,omitempty"`

	// port the server listens on. Unset: 8321. The stack has a Service only with
	// a port or with env.
	// +optional
	Port int32 `json:"port,omitempty"`

	// resources of the container. Unset: requests of 1Gi memory and one CPU per
	// worker.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// env is added to the container.
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// command in place of the image's entrypoint.
	// +optional
	Command []string `json:"command,omitempty"`

	// args of the entrypoint or command.
	// +optional
	Args []string `json:"args,omitempty"`
}

// PodOverrides changes the pod.
type PodOverrides struct {
	// serviceAccountName of the pods, made by the user. Unset: <name>-sa, made by
	// the operator.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// terminationGracePeriodSeconds of the pods. Unset: Kubernetes' default, 30.
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// volumes are added to the pods.
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// volumeMounts are added to the server's container.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
}

// PodDisruptionBudgetSpec limits what a drained node may take.
type PodDisruptionBudgetSpec struct {
	// minAvailable pods, a number or a percentage.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// maxUnavailable pods, a number or a percentage.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// AutoscalingSpec is a HorizontalPodAutoscaler.
type AutoscalingSpec struct {
	// minReplicas is the lower bound. Unset: 1.
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the upper bound; 0 is no autoscaling. Required.
	// +required
	MaxReplicas int32 `json:"maxReplicas"`

	// targetCPUUtilizationPercentage of the requested CPU. Unset: 80 when
	// targetMemoryUtilizationPercentage is unset too.
	// +optional
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`

	// targetMemoryUtilizationPercentage of the requested memory. Unset: memory is
	// not looked at.
	// +optional
	TargetMemoryUtilizationPercentage *int32 `json:"targetMemoryUtilizationPercentage,omitempty"`
}

// StorageSpec is the volume for the server's data ({} is one with all defaults),
// and the stores of its state.
type StorageSpec struct {
	// size of the volume. Unset: 10Gi.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// mountPath is where the volume is mounted. Unset: /.llama.
	// +optional
	MountPath string `json:"mountPath,omitempty"`

	// kv is the key-value store, as in v1alpha2.
	// +optional
	KV *v1alpha2.KVStorageSpec `json:"kv,omitempty"`

	// sql is the relational store, as in v1alpha2.
	// +optional
	SQL *v1alpha2.SQLStorageSpec `json:"sql,omitempty"`
}

// UserConfigSpec is a ConfigMap that holds a whole configuration.
type UserConfigSpec struct {
	// configMapName is the ConfigMap; empty is off. Required.
	// +required
	ConfigMapName string `json:"configMapName"`

	// configMapNamespace is where the ConfigMap is. It is read in another
	// namespace than the stack's only when its annotation
	// llamastack.io/allow-namespaces names the stack's. Unset: the stack's.
	// +optional
	ConfigMapNamespace string `json:"configMapNamespace,omitempty"`
}

// TLSConfig is trust for the server's outgoing calls.
type TLSConfig struct {
	// caBundle adds certificates the server trusts.
	// +optional
	CABundle *CABundleConfig `json:"caBundle,omitempty"`
}

// CABundleConfig is a ConfigMap with PEM certificates.
type CABundleConfig struct {
	// configMapName is the ConfigMap. Required.
	// +required
	ConfigMapName string `json:"configMapName"`

	// configMapNamespace is where the ConfigMap is, see userConfig. Unset: the
	// stack's.
	// +optional
	ConfigMapNamespace string `json:"configMapNamespace,omitempty"`

	// configMapKeys are the keys to read, at most 50. Unset: ca-bundle.crt.
	// +kubebuilder:validation:MaxItems=50
	// +optional
	ConfigMapKeys []string `json:"configMapKeys,omitempty"`
}
