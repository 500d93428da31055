package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// LlamaStackDistributionStatus is the last observed state.
type LlamaStackDistributionStatus struct {
	// phase summarizes the conditions in one word.
	// +optional
	Phase v1alpha2.Phase `json:"phase,omitempty"`

	// version holds the versions of the operator and the server.
	// +optional
	Version *v1alpha2.VersionStatus `json:"version,omitempty"`

	// distributionConfig is the information that the running server reports about itself.
	// +optional
	DistributionConfig *DistributionConfig `json:"distributionConfig,omitempty"`

	// conditions describe the state in detail. They are the v1alpha2 conditions, plus DeploymentReady, HealthCheck,
	// ServiceReady and ConfigReady, which the operator derives from the v1alpha2 conditions.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// availableReplicas is the number of pods that serve requests.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// serviceURL is the URL of the server inside the cluster. It is unset if there is no Service.
	// +optional
	ServiceURL string `json:"serviceURL,omitempty"`

	// routeURL is the URL of the server outside the cluster.
	// +optional
	RouteURL string `json:"routeURL,omitempty"`

	// generatedConfigMap is the name of the generated ConfigMap.
	// +optional
	GeneratedConfigMap string `json:"generatedConfigMap,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// resolvedDistribution describes the server that runs, as in v1alpha2.
	// +optional
	ResolvedDistribution *v1alpha2.ResolvedDistribution `json:"resolvedDistribution,omitempty"`

	// configGeneration describes the generated configuration, as in v1alpha2.
	// +optional
	ConfigGeneration *v1alpha2.ConfigGeneration `json:"configGeneration,omitempty"`

	// warnings lists the warnings about the stack, as in v1alpha2.
	// +listType=atomic
	// +optional
	Warnings []string `json:"warnings,omitempty"`

	// models lists the models that the running server serves, as in v1alpha2.
	// +listType=atomic
	// +optional
	Models []v1alpha2.ModelStatus `json:"models,omitempty"`

	// modelsLeftOut is the number of models that the server lists but that are omitted from models.
	// +optional
	ModelsLeftOut int32 `json:"modelsLeftOut,omitempty"`

	// mcpServers lists the MCP servers that are registered in the running server, as in v1alpha2.
	// +listType=map
	// +listMapKey=id
	// +optional
	MCPServers []v1alpha2.MCPServerStatus `json:"mcpServers,omitempty"`

	// externalProviders lists the external providers, as in v1alpha2.
	// +listType=map
	// +listMapKey=providerId
	// +optional
	ExternalProviders []v1alpha2.ExternalProviderStatus `json:"externalProviders,omitempty"`

	// replicas is the number of pods that the Deployment has.
	// +optional
	Replicas int32 `json:"replicas"`

	// selector selects the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`
}

// DistributionConfig is the information that the running server reports about itself.
type DistributionConfig struct {
	// activeDistribution is the name or the image of the distribution in use. It is unset for stacks that were created as
	// v1alpha2.
	// +optional
	ActiveDistribution string `json:"activeDistribution,omitempty"`

	// providers lists the providers of the running server, sorted by API and ID.
	// +optional
	Providers []ProviderInfo `json:"providers,omitempty"`

	// providersLeftOut is the number of providers that the server returns but that are omitted from providers. It is 0 for
	// stacks that were created as v1alpha1, because their list contains all providers.
	// +optional
	ProvidersLeftOut int32 `json:"providersLeftOut,omitempty"`

	// availableDistributions maps the names of the known distributions to their images.
	// +optional
	AvailableDistributions map[string]string `json:"availableDistributions,omitempty"`
}

// ProviderInfo is one provider of the running server. Its JSON names are those of the server.
type ProviderInfo struct {
	// api is the API that the provider serves.
	API string `json:"api"`

	// provider_id is the provider's ID in the server.
	ProviderID string `json:"provider_id"`

	// provider_type is the provider's type in the server.
	ProviderType string `json:"provider_type"`

	// config is always {}. Earlier operators recorded the configuration that the server returned, which can contain
	// secrets. The generated ConfigMap contains the settings.
	// +optional
	Config *apiextensionsv1.JSON `json:"config,omitempty"`

	// health is the provider's health as the server reports it.
	// +optional
	Health v1alpha2.ProviderHealthStatus `json:"health,omitzero"`
}
