package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Phase summarizes the conditions in one word for people. Programs must use the conditions instead.
// +kubebuilder:validation:Enum=Pending;Initializing;Ready;Failed;Terminating
type Phase string

const (
	// PhasePending means that the stack is paused, that the operator is retrying a failed step, or that the operator is
	// waiting for something outside the object, such as a missing Secret. Pods that are already running continue to run.
	PhasePending Phase = "Pending"
	// PhaseInitializing means that pods are starting, and that too few pods serve requests.
	PhaseInitializing Phase = "Initializing"
	// PhaseReady means that the stack serves requests in the desired state, or in the earlier state while a change is in
	// progress. A stack that is scaled to 0 replicas as desired is also Ready. The condition Ready is True only in the
	// desired state.
	PhaseReady Phase = "Ready"
	// PhaseFailed means that the stack cannot reach the desired state without a change, or that pods with the current
	// configuration do not become ready.
	PhaseFailed Phase = "Failed"
	// PhaseTerminating means that the object is being deleted.
	PhaseTerminating Phase = "Terminating"
)

// LlamaStackDistributionStatus is the last observed state.
type LlamaStackDistributionStatus struct {
	// phase summarizes the conditions in one word.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions describe the state in detail, each with its reason.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// warnings lists the warnings about the stack, each with the path of its field. They do not prevent the stack from
	// running. The list contains at most 20 warnings of at most 300 characters. If there are more, the last entry is their
	// number. A warning disappears when its cause does.
	// +listType=atomic
	// +optional
	Warnings []string `json:"warnings,omitempty"`

	// resolvedDistribution describes the server that runs, and the sources of its image, configuration and release.
	// +optional
	ResolvedDistribution *ResolvedDistribution `json:"resolvedDistribution,omitempty"`

	// configGeneration describes the generated configuration in use. It is unset if no configuration is generated.
	// +optional
	ConfigGeneration *ConfigGeneration `json:"configGeneration,omitempty"`

	// version holds the versions of the operator and the server.
	// +optional
	Version *VersionStatus `json:"version,omitempty"`

	// distributionConfig is the information that the running server reports about itself.
	// +optional
	DistributionConfig *DistributionConfigStatus `json:"distributionConfig,omitempty"`

	// models lists the models that the running server serves, sorted by ID. The list contains at most 20 models. It is
	// empty if the server does not list its models.
	// +listType=atomic
	// +optional
	Models []ModelStatus `json:"models,omitempty"`

	// modelsLeftOut is the number of models that the server lists but that are omitted from models.
	// +optional
	ModelsLeftOut int32 `json:"modelsLeftOut,omitempty"`

	// mcpServers lists the MCP servers that are registered in the running server, sorted by ID. The list contains at most
	// 20 MCP servers. It is empty if the stack has no MCP servers, or if the server does not list them. Servers do not
	// report the health of their MCP servers.
	// +listType=map
	// +listMapKey=id
	// +optional
	MCPServers []MCPServerStatus `json:"mcpServers,omitempty"`

	// externalProviders lists the external providers, sorted by ID.
	// +listType=map
	// +listMapKey=providerId
	// +optional
	ExternalProviders []ExternalProviderStatus `json:"externalProviders,omitempty"`

	// replicas is the number of pods that the Deployment has.
	// +optional
	Replicas int32 `json:"replicas"`

	// availableReplicas is the number of pods that serve requests.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// selector selects the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// serviceURL is the URL of the server inside the cluster. It is unset if there is no Service.
	// +optional
	ServiceURL string `json:"serviceURL,omitempty"`

	// routeURL is the URL of the server outside the cluster.
	// +optional
	RouteURL string `json:"routeURL,omitempty"`
}

// GeneratedConfigMap returns the name of the generated ConfigMap, or an empty string if no ConfigMap was generated.
func (s *LlamaStackDistributionStatus) GeneratedConfigMap() string {
	if s.ConfigGeneration == nil {
		return ""
	}
	return s.ConfigGeneration.ConfigMapName
}

// ConfigSource is the source of a configuration.
// +kubebuilder:validation:Enum=image-default;embedded;oci-label;config-map;override
type ConfigSource string

const (
	// ConfigSourceImageDefault means that the server uses the image's own configuration unchanged.
	ConfigSourceImageDefault ConfigSource = "image-default"
	// ConfigSourceEmbedded means that the configuration was generated from the operator's copy of the distribution's
	// configuration.
	ConfigSourceEmbedded ConfigSource = "embedded"
	// ConfigSourceOCILabel means that the configuration was generated from the configuration in the image's labels.
	ConfigSourceOCILabel ConfigSource = "oci-label"
	// ConfigSourceConfigMap means that the configuration was generated from spec.baseConfig.
	ConfigSourceConfigMap ConfigSource = "config-map"
	// ConfigSourceOverride means that the server uses the configuration in spec.overrideConfig.
	ConfigSourceOverride ConfigSource = "override"
)

// ImageSource is the source of an image.
// +kubebuilder:validation:Enum=spec;catalogue;related-image;operator-config
type ImageSource string

const (
	// ImageFromSpec means that spec.distribution.image names the image.
	ImageFromSpec ImageSource = "spec"
	// ImageFromCatalogue means that the image is the catalog's image for name and version. The catalog is from the
	// operator that was running when name or version was last set.
	ImageFromCatalogue ImageSource = "catalogue"
	// ImageFromRelatedImage means that a RELATED_IMAGE variable of the operator replaces the catalog's image.
	ImageFromRelatedImage ImageSource = "related-image"
	// ImageFromOperatorConfig means that the operator's ConfigMap replaces the catalog's image.
	ImageFromOperatorConfig ImageSource = "operator-config"
)

// ResolvedDistribution records a stack's server. As long as name and version in the spec do not change, the catalog
// of a newer operator does not change the image.
type ResolvedDistribution struct {
	// name is the name of the distribution, if the spec sets one.
	// +optional
	Name string `json:"name,omitempty"`
	// version is the version that the spec requests.
	// +optional
	Version string `json:"version,omitempty"`
	// catalogueImage is the image in the operator's catalog for name and version. It is set only while the stack
	// runs another image, because the operator's configuration replaces it, or because the pods keep an earlier template.
	// +optional
	CatalogueImage string `json:"catalogueImage,omitempty"`
	// image is the image that runs.
	// +optional
	Image string `json:"image,omitempty"`
	// imageFrom is the source of the image. It is not set while the pods keep the image of an earlier template.
	// +optional
	ImageFrom ImageSource `json:"imageFrom,omitempty"`
	// digest is the digest to which the image was resolved. It is set if the labels of the image were read, or if the pods
	// follow its tag.
	// +optional
	Digest string `json:"digest,omitempty"`
	// tagDigest is the digest of the image's tag in the registry. It is set only while it differs from digest.
	// +optional
	TagDigest string `json:"tagDigest,omitempty"`
	// configSource is the source of the configuration.
	// +optional
	ConfigSource ConfigSource `json:"configSource,omitempty"`
	// serverRelease is the release line of the server, which determines the form of its configuration.
	// +optional
	ServerRelease string `json:"serverRelease,omitempty"`
	// serverReleaseFrom is the source of the release: version, catalogue, image-label, image-tag or unknown.
	// +optional
	ServerReleaseFrom string `json:"serverReleaseFrom,omitempty"`
	// configHash is the SHA-256 of the configuration in use, in hex.
	// +optional
	ConfigHash string `json:"configHash,omitempty"`
}

// Catalogue returns the image in the operator's catalog for name and version, even if the operator's configuration
// replaces this image. It returns an empty string if the spec has an image instead of a name.
func (r *ResolvedDistribution) Catalogue() string {
	if r.CatalogueImage == "" && r.ImageFrom == ImageFromCatalogue {
		return r.Image
	}
	return r.CatalogueImage
}

// ConfigGeneration describes a generated configuration.
type ConfigGeneration struct {
	// configMapName is the name of the ConfigMap with the configuration.
	ConfigMapName string `json:"configMapName"`
	// generatedAt is the creation time of that ConfigMap.
	// +optional
	GeneratedAt *metav1.Time `json:"generatedAt,omitempty"`
	// providerCount is the number of enabled providers in the configuration.
	ProviderCount int32 `json:"providerCount"`
	// resourceCount is the number of registered models, tools and shields in the configuration.
	ResourceCount int32 `json:"resourceCount"`
	// configVersion is the schema version of the configuration.
	// +optional
	ConfigVersion string `json:"configVersion,omitempty"`
}

// VersionStatus holds the versions of the operator and the server.
type VersionStatus struct {
	// operatorVersion is the version of the operator that wrote this status.
	// +optional
	OperatorVersion string `json:"operatorVersion,omitempty"`
	// llamaStackServerVersion is the version that the running server reports.
	// +optional
	LlamaStackServerVersion string `json:"llamaStackServerVersion,omitempty"`
	// lastUpdated is the last time at which one of the two versions changed.
	// +optional
	LastUpdated *metav1.Time `json:"lastUpdated,omitempty"`
}

// DistributionConfigStatus is the information that the running server reports about itself.
type DistributionConfigStatus struct {
	// activeDistribution is the name or the image of the distribution in use. It is set only for stacks that were created
	// as v1alpha1.
	// +optional
	ActiveDistribution string `json:"activeDistribution,omitempty"`
	// availableDistributions maps the names of the known distributions to their images. It is set only for stacks that
	// were created as v1alpha1.
	// +optional
	AvailableDistributions map[string]string `json:"availableDistributions,omitempty"`
	// providers lists providers that the running server returns at /v1/providers, sorted by API and ID. The list contains
	// the providers that the spec names and the providers whose health the server checks, at most 20. If there are no such
	// providers, the list contains the server's first five providers. For stacks that were created as v1alpha1, the list
	// contains all providers. The list is empty if the server does not return its providers.
	// +optional
	Providers []ProviderInfo `json:"providers,omitempty"`
	// providersLeftOut is the number of providers that the server returns but that are omitted from providers.
	// +optional
	ProvidersLeftOut int32 `json:"providersLeftOut,omitempty"`
}

// ProviderInfo is one provider of the running server. Its JSON names are those of the server.
type ProviderInfo struct {
	// api is the API that the provider serves.
	API string `json:"api"`
	// provider_id is the provider's ID in the server.
	ProviderID string `json:"provider_id"`
	// provider_type is the provider's type in the server.
	ProviderType string `json:"provider_type"`
	// health is the provider's health as the server reports it. It is unset if the server does not check the provider,
	// except for stacks that were created as v1alpha1.
	// +optional
	Health ProviderHealthStatus `json:"health,omitzero"`
}

// MCPServerStatus is one MCP server of the running server. It has no address, because an address can contain a
// credential.
type MCPServerStatus struct {
	// id is the ID by which clients select the tools of the MCP server.
	ID string `json:"id"`
}

// ModelStatus is one model of the running server.
type ModelStatus struct {
	// id is the ID by which clients request the model.
	ID string `json:"id"`
	// type is the type of the model: llm, embedding or rerank.
	// +optional
	Type string `json:"type,omitempty"`
	// provider is the ID of the provider that serves the model. It is unset if the model's ID begins with the provider's
	// ID, as in vllm/llama3.2-8b.
	// +optional
	Provider string `json:"provider,omitempty"`
}

// These are the values of ProviderHealthStatus.Status: the values that the server reports, and Unknown.
const (
	// ProviderHealthOK means that the provider's own check succeeds.
	ProviderHealthOK = "OK"
	// ProviderHealthError means that the provider's own check fails.
	ProviderHealthError = "Error"
	// ProviderHealthNotImplemented means that the server does not check the provider. From release 0.3 on, servers check
	// no providers.
	ProviderHealthNotImplemented = "Not Implemented"
	// ProviderHealthUnknown means that the server reports any other status, or has not responded for a while.
	ProviderHealthUnknown = "Unknown"
)

// ProviderHealthStatus is a provider's health as the server reports it. No condition depends on this health.
type ProviderHealthStatus struct {
	// status is OK, Error or Not Implemented. It is Unknown if the server reports any other status, or has not responded
	// for a while. From release 0.3 on, servers always report Not Implemented.
	// +optional
	Status string `json:"status,omitempty"`
	// message describes the problem in the operator's words, because a provider's own message can contain credentials.
	// +optional
	Message string `json:"message,omitempty"`
}

// ExternalProviderPhase is the state of an external provider.
// +kubebuilder:validation:Enum=Pending;Installing;Ready;Failed
type ExternalProviderPhase string

// These are the phases of an external provider.
const (
	// ExternalProviderPending means that no pod has started to install the provider.
	ExternalProviderPending ExternalProviderPhase = "Pending"
	// ExternalProviderInstalling means that a pod is installing the provider, or that the pod's server is not ready yet.
	ExternalProviderInstalling ExternalProviderPhase = "Installing"
	// ExternalProviderReady means that a server that has the provider is ready.
	ExternalProviderReady ExternalProviderPhase = "Ready"
	// ExternalProviderFailed means that the provider cannot be installed in the pods, or prevents the server from
	// starting.
	ExternalProviderFailed ExternalProviderPhase = "Failed"
)

// ExternalProviderStatus is the state of one external provider.
type ExternalProviderStatus struct {
	// providerId is the provider's ID in the spec.
	ProviderID string `json:"providerId"`
	// image is the image of the provider.
	// +optional
	Image string `json:"image,omitempty"`
	// phase is the phase of the provider's installation.
	// +optional
	Phase ExternalProviderPhase `json:"phase,omitempty"`
	// message is the reason for a failure, or a warning about a provider that is ready.
	// +optional
	Message string `json:"message,omitempty"`
	// initContainerName is the name of the init container that copies the provider from its image.
	// +optional
	InitContainerName string `json:"initContainerName,omitempty"`
}
