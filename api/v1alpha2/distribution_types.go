package v1alpha2

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LlamaStackDistribution runs one Llama Stack server: a distribution, what the
// user wants changed in its configuration, and how it runs in the cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=llsd
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.workload.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Providers",type=integer,JSONPath=`.status.configGeneration.providerCount`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Distribution",type=string,priority=1,JSONPath=`.status.resolvedDistribution.image`
// +kubebuilder:printcolumn:name="Config",type=string,priority=1,JSONPath=`.status.configGeneration.configMapName`
// +kubebuilder:printcolumn:name="Server",type=string,priority=1,JSONPath=`.status.version.llamaStackServerVersion`
// +kubebuilder:printcolumn:name="Operator",type=string,priority=1,JSONPath=`.status.version.operatorVersion`
type LlamaStackDistribution struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the wanted state.
	// +required
	Spec LlamaStackDistributionSpec `json:"spec"`

	// status is what the operator observed last.
	// +optional
	Status LlamaStackDistributionStatus `json:"status,omitempty"`
}

// LlamaStackDistributionList is a list of LlamaStackDistribution.
//
// +kubebuilder:object:root=true
type LlamaStackDistributionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []LlamaStackDistribution `json:"items"`
}

// LlamaStackDistributionSpec is the wanted state of a stack.
type LlamaStackDistributionSpec struct {
	// distribution says which server runs: a known name or an image. Required.
	// +required
	Distribution DistributionSpec `json:"distribution"`

	// providers configures the server's providers, API by API. A provider with
	// the id of one in the base configuration replaces it, any other is added.
	// Excludes overrideConfig. Unset: the base's providers, unchanged.
	// +optional
	Providers *ProvidersSpec `json:"providers,omitempty"`

	// resources registers models, tools and shields when the server starts.
	// Excludes overrideConfig. Unset: what the base registers.
	// +optional
	Resources *ResourcesSpec `json:"resources,omitempty"`

	// storage says where the server keeps its state. Excludes overrideConfig.
	// Unset: the base's storage, unchanged.
	// +optional
	Storage *StateStorageSpec `json:"storage,omitempty"`

	// settings is a JSON merge patch on the generated configuration for server
	// sections that have no field here (server.auth, vector_stores, logging).
	// It may not contain what another field sets, and no null. Excludes
	// overrideConfig. Unset: nothing is patched.
	// +optional
	Settings *apiextensionsv1.JSON `json:"settings,omitempty"`

	// removeSettings lists dotted paths that are taken out of the generated
	// configuration, for example server.quota. Excludes overrideConfig.
	// +optional
	RemoveSettings []string `json:"removeSettings,omitempty"`

	// secretEnv adds environment variables from Secrets, to be used as
	// ${env.NAME} in settings, baseConfig or overrideConfig. Names are upper
	// case ([A-Z][A-Z0-9_]*) and do not start with LLSD_.
	// +optional
	SecretEnv map[string]SecretReference `json:"secretEnv,omitempty"`

	// disabled lists API names (camelCase or snake_case) the server shall not
	// serve, or api/providerId to take a single provider of the base away.
	// Excludes overrideConfig. Unset: everything the base serves.
	// +optional
	Disabled []string `json:"disabled,omitempty"`

	// networking says how the server is reached.
	// +optional
	Networking *NetworkingSpec `json:"networking,omitempty"`

	// workload says how the server runs as a Deployment.
	// +optional
	Workload *WorkloadSpec `json:"workload,omitempty"`

	// externalProviders adds providers from container images, by API name.
	// They are merged last and win over a configured provider of the same id.
	// Works with overrideConfig too.
	// +optional
	ExternalProviders map[string][]ExternalProvider `json:"externalProviders,omitempty"`

	// baseConfig takes the base configuration from a ConfigMap in place of the
	// image. Excludes overrideConfig.
	// +optional
	BaseConfig *BaseConfigSource `json:"baseConfig,omitempty"`

	// overrideConfig takes the whole server configuration from a ConfigMap.
	// Excludes providers, resources, storage, disabled, settings,
	// removeSettings and baseConfig; networking and workload still apply.
	// +optional
	OverrideConfig *OverrideConfigSource `json:"overrideConfig,omitempty"`
}

// DistributionSpec names the server that runs: exactly one of name and image.
type DistributionSpec struct {
	// name is a distribution the operator knows, for example starter.
	// +optional
	Name string `json:"name,omitempty"`

	// image is a reference to a distribution image.
	// +optional
	Image string `json:"image,omitempty"`

	// version is the server release to run, for example 0.7 or 0.7.3. Only with
	// name. Unset: the operator's default for that name when the object is new;
	// an operator upgrade does not change it.
	// +optional
	Version string `json:"version,omitempty"`
}

// BaseConfigSource is a key of a ConfigMap that holds a base configuration.
type BaseConfigSource struct {
	// configMapName is a ConfigMap in the object's namespace. Required.
	// +required
	ConfigMapName string `json:"configMapName"`

	// key is the key that holds the configuration. Unset: config.yaml.
	// +optional
	Key string `json:"key,omitempty"`
}

// OverrideConfigSource is a key of a ConfigMap that holds a whole configuration.
type OverrideConfigSource struct {
	// configMapName is a ConfigMap in the object's namespace. Required.
	// +required
	ConfigMapName string `json:"configMapName"`

	// key is the key that holds the configuration. Unset: config.yaml.
	// +optional
	Key string `json:"key,omitempty"`
}

// DefaultConfigKey is the ConfigMap key read when baseConfig or overrideConfig
// name none.
const DefaultConfigKey = "config.yaml"
