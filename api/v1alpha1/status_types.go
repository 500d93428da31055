package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// LlamaStackDistributionStatus is what the operator observed last.
type LlamaStackDistributionStatus struct {
	// phase sums the conditions up in one word.
	// +optional
	Phase v1alpha2.Phase `json:"phase,omitempty"`

	// version of operator and server.
	// +optional
	Version *v1alpha2.VersionStatus `json:"version,omitempty"`

	// distributionConfig is what the running server says of itself.
	// +optional
	DistributionConfig *DistributionConfig `json:"distributionConfig,omitempty"`

	// conditions say what holds and what does not: those of v1alpha2, and
	// DeploymentReady, HealthCheck, ServiceReady and ConfigReady, which follow from
	// them.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// availableReplicas is the number of pods that serve.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// serviceURL is where the server is reached inside the cluster. Unset without a
	// Service.
	// +optional
	ServiceURL string `json:"serviceURL,omitempty"`

	// routeURL is where the server is reached from outside.
	// +optional
	RouteURL string `json:"routeURL,omitempty"`

	// generatedConfigMap is the name of the generated ConfigMap.
	// +optional
	GeneratedConfigMap string `json:"generatedConfigMap,omitempty"`

	// observedGeneration is the generation of the spec this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// resolvedDistribution, as in v1alpha2.
	// +optional
	ResolvedDistribution *v1alpha2.ResolvedDistribution `json:"resolvedDistribution,omitempty"`

	// configGeneration, as in v1alpha2.
	// +optional
	ConfigGeneration *v1alpha2.ConfigGeneration `json:"configGeneration,omitempty"`

	// externalProviders, as in v1alpha2.
	// +listType=map
	// +listMapKey=providerId
	// +optional
	ExternalProviders []v1alpha2.ExternalProviderStatus `json:"externalProviders,omitempty"`

	// replicas is the number of pods the Deployment has.
	// +optional
	Replicas int32 `json:"replicas"`

	// selector of the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`
}

// DistributionConfig is what the running server says of itself.
type DistributionConfig struct {
	// activeDistribution is the name or image in use.
	// +optional
	ActiveDistribution string `json:"activeDistribution,omitempty"`

	// providers that the running server has, by API and id.
	// +optional
	Providers []ProviderInfo `json:"providers,omitempty"`

	// availableDistributions maps known names to images.
	// +optional
	AvailableDistributions map[string]string `json:"availableDistributions,omitempty"`
}

// ProviderInfo is one provider of the running server. The JSON names are the
// server's.
type ProviderInfo struct {
	// api the provider serves.
	API string `json:"api"`

	// provider_id in the server.
	ProviderID string `json:"provider_id"`

	// provider_type in the server.
	ProviderType string `json:"provider_type"`

	// config was the server's own answer, in which secrets may stand. It is kept no
	// more and always {}: the generated ConfigMap has the settings.
	// +optional
	Config *apiextensionsv1.JSON `json:"config,omitempty"`

	// health as the server reports it.
	// +optional
	Health v1alpha2.ProviderHealthStatus `json:"health,omitempty"`
}
