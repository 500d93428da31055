package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Phase is one word for people; conditions are for programs.
// +kubebuilder:validation:Enum=Pending;Initializing;Ready;Failed;Terminating
type Phase string

const (
	// PhasePending: nothing runs yet, something is awaited.
	PhasePending Phase = "Pending"
	// PhaseInitializing: children are applied, the rollout is not complete.
	PhaseInitializing Phase = "Initializing"
	// PhaseReady: the wanted state runs; also with replicas 0.
	PhaseReady Phase = "Ready"
	// PhaseFailed: the wanted state cannot be reached without a change.
	PhaseFailed Phase = "Failed"
	// PhaseTerminating: the object is being deleted.
	PhaseTerminating Phase = "Terminating"
)

// LlamaStackDistributionStatus is what the operator observed last.
type LlamaStackDistributionStatus struct {
	// phase sums the conditions up in one word.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// observedGeneration is the generation of the spec this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions say what holds and what does not, each with the reason.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// resolvedDistribution is the server that runs and how that was found.
	// +optional
	ResolvedDistribution *ResolvedDistribution `json:"resolvedDistribution,omitempty"`

	// configGeneration is the generated configuration in use. Unset when the
	// image's own or an override runs.
	// +optional
	ConfigGeneration *ConfigGeneration `json:"configGeneration,omitempty"`

	// version of operator and server.
	// +optional
	Version *VersionStatus `json:"version,omitempty"`

	// distributionConfig is what the running server says of itself.
	// +optional
	DistributionConfig *DistributionConfigStatus `json:"distributionConfig,omitempty"`

	// externalProviders by id.
	// +listType=map
	// +listMapKey=providerId
	// +optional
	ExternalProviders []ExternalProviderStatus `json:"externalProviders,omitempty"`

	// replicas is the number of pods the Deployment has.
	// +optional
	Replicas int32 `json:"replicas"`

	// availableReplicas is the number of pods that serve.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// selector of the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// serviceURL is where the server is reached inside the cluster. Unset without a
	// Service.
	// +optional
	ServiceURL string `json:"serviceURL,omitempty"`

	// routeURL is where the server is reached from outside.
	// +optional
	RouteURL string `json:"routeURL,omitempty"`
}

// GeneratedConfigMap returns the name of the generated ConfigMap; empty when there
// is none.
func (s *LlamaStackDistributionStatus) GeneratedConfigMap() string {
	if s.ConfigGeneration == nil {
		return ""
	}
	return s.ConfigGeneration.ConfigMapName
}

// ConfigSource says where a configuration came from.
// +kubebuilder:validation:Enum=image-default;embedded;oci-label;config-map;override
type ConfigSource string

const (
	// ConfigSourceImageDefault: the image's own configuration runs unchanged.
	ConfigSourceImageDefault ConfigSource = "image-default"
	// ConfigSourceEmbedded: generated over the operator's copy of the
	// distribution's configuration.
	ConfigSourceEmbedded ConfigSource = "embedded"
	// ConfigSourceOCILabel: generated over the configuration in the image's labels.
	ConfigSourceOCILabel ConfigSource = "oci-label"
	// ConfigSourceConfigMap: generated over spec.baseConfig.
	ConfigSourceConfigMap ConfigSource = "config-map"
	// ConfigSourceOverride: spec.overrideConfig runs.
	ConfigSourceOverride ConfigSource = "override"
)

// ImageSource says where an image was found.
// +kubebuilder:validation:Enum=spec;catalogue;related-image;operator-config
type ImageSource string

const (
	// ImageFromSpec: spec.distribution.image names it.
	ImageFromSpec ImageSource = "spec"
	// ImageFromCatalogue: it is the catalogue's for name and version, as of the
	// operator that the stack was made with.
	ImageFromCatalogue ImageSource = "catalogue"
	// ImageFromRelatedImage: a RELATED_IMAGE variable of the operator replaces
	// the catalogue's.
	ImageFromRelatedImage ImageSource = "related-image"
	// ImageFromOperatorConfig: the operator's ConfigMap replaces the catalogue's.
	ImageFromOperatorConfig ImageSource = "operator-config"
)

// ResolvedDistribution records the server of a stack. It stays as it is while
// name and version in the spec are the same, whatever a newer operator's
// catalogue says.
type ResolvedDistribution struct {
	// name of the distribution, when the spec has one.
	// +optional
	Name string `json:"name,omitempty"`
	// version the spec asked for.
	// +optional
	Version string `json:"version,omitempty"`
	// catalogueImage is the operator's image for name and version, before overrides.
	// +optional
	CatalogueImage string `json:"catalogueImage,omitempty"`
	// image that runs.
	// +optional
	Image string `json:"image,omitempty"`
	// imageFrom says where the image was found.
	// +optional
	ImageFrom ImageSource `json:"imageFrom,omitempty"`
	// digest the image was resolved to, when its labels were read, or when
	// the pods follow its tag.
	// +optional
	Digest string `json:"digest,omitempty"`
	// tagDigest is what the tag of the image stands for in the registry, while
	// that is another digest.
	// +optional
	TagDigest string `json:"tagDigest,omitempty"`
	// configSource says where the configuration came from.
	// +optional
	ConfigSource ConfigSource `json:"configSource,omitempty"`
	// serverRelease is the release line whose rules the configuration follows.
	// +optional
	ServerRelease string `json:"serverRelease,omitempty"`
	// serverReleaseFrom says how the release was found: version, catalogue,
	// image-label, image-tag or unknown.
	// +optional
	ServerReleaseFrom string `json:"serverReleaseFrom,omitempty"`
	// configHash is the SHA-256 of the configuration in use, in hex.
	// +optional
	ConfigHash string `json:"configHash,omitempty"`
}

// ConfigGeneration is a generated configuration.
type ConfigGeneration struct {
	// configMapName holds it.
	ConfigMapName string `json:"configMapName"`
	// generatedAt is the creation time of that ConfigMap.
	// +optional
	GeneratedAt *metav1.Time `json:"generatedAt,omitempty"`
	// providerCount is the number of enabled providers in it.
	ProviderCount int32 `json:"providerCount"`
	// resourceCount is the number of registered models, tools and shields in it.
	ResourceCount int32 `json:"resourceCount"`
	// configVersion is its schema version.
	// +optional
	ConfigVersion string `json:"configVersion,omitempty"`
}

// VersionStatus holds the versions at work.
type VersionStatus struct {
	// operatorVersion that wrote this status.
	// +optional
	OperatorVersion string `json:"operatorVersion,omitempty"`
	// llamaStackServerVersion the running server reports.
	// +optional
	LlamaStackServerVersion string `json:"llamaStackServerVersion,omitempty"`
	// lastUpdated is when one of the two changed.
	// +optional
	LastUpdated *metav1.Time `json:"lastUpdated,omitempty"`
}

// DistributionConfigStatus is what the running server says of itself.
type DistributionConfigStatus struct {
	// activeDistribution is the name or image in use.
	// +optional
	ActiveDistribution string `json:"activeDistribution,omitempty"`
	// availableDistributions maps known names to images.
	// +optional
	AvailableDistributions map[string]string `json:"availableDistributions,omitempty"`
	// providers that the running server has, by API and id, as its /v1/providers
	// lists them. Empty where it does not tell.
	// +optional
	Providers []ProviderInfo `json:"providers,omitempty"`
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
	// health as the server reports it.
	// +optional
	Health ProviderHealthStatus `json:"health,omitempty"`
}

// What ProviderHealthStatus.Status may say: the server's own words, and Unknown.
const (
	// ProviderHealthOK: the provider's own check succeeds.
	ProviderHealthOK = "OK"
	// ProviderHealthError: it fails.
	ProviderHealthError = "Error"
	// ProviderHealthNotImplemented: the server checks nothing, as all do from
	// release 0.3 on.
	ProviderHealthNotImplemented = "Not Implemented"
	// ProviderHealthUnknown: the server says something else, or nothing for a while.
	ProviderHealthUnknown = "Unknown"
)

// ProviderHealthStatus is a provider's health as the server reports it. No
// condition depends on it.
type ProviderHealthStatus struct {
	// status: OK, Error, Not Implemented, or Unknown while the server does not
	// answer. From release 0.3 on servers always say Not Implemented.
	// +optional
	Status string `json:"status,omitempty"`
	// message says what is wrong, in the operator's words: a provider's own may
	// quote credentials.
	// +optional
	Message string `json:"message,omitempty"`
}

// ExternalProviderPhase is the state of an external provider.
// +kubebuilder:validation:Enum=Pending;Installing;Ready;Failed
type ExternalProviderPhase string

// The phases of an external provider.
const (
	// ExternalProviderPending: no pod has begun with it.
	ExternalProviderPending ExternalProviderPhase = "Pending"
	// ExternalProviderInstalling: a pod installs it, or its server is not ready yet.
	ExternalProviderInstalling ExternalProviderPhase = "Installing"
	// ExternalProviderReady: a server with it is ready.
	ExternalProviderReady ExternalProviderPhase = "Ready"
	// ExternalProviderFailed: it does not get into the pods, or keeps the server from starting.
	ExternalProviderFailed ExternalProviderPhase = "Failed"
)

// ExternalProviderStatus is the state of one external provider.
type ExternalProviderStatus struct {
	// providerId as the spec has it.
	ProviderID string `json:"providerId"`
	// image it comes from.
	// +optional
	Image string `json:"image,omitempty"`
	// phase of its installation.
	// +optional
	Phase ExternalProviderPhase `json:"phase,omitempty"`
	// message says why it failed, or what to look at although it is ready.
	// +optional
	Message string `json:"message,omitempty"`
	// initContainerName that copies it out of its image.
	// +optional
	InitContainerName string `json:"initContainerName,omitempty"`
}
