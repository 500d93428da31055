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
//
// The rules here look at the old object themselves: the API server's ratcheting
// never takes a spec for unchanged that holds a field without schema.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.providers) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().providers))`,message=`providers and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'excluded by overrideConfig, which is the whole configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove providers or overrideConfig'`,fieldPath=`.providers`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.resources) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().resources))`,message=`resources and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'excluded by overrideConfig, which is the whole configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove resources or overrideConfig'`,fieldPath=`.resources`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.storage) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().storage))`,message=`storage and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'excluded by overrideConfig, which is the whole configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove storage or overrideConfig'`,fieldPath=`.storage`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.disabled) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().disabled))`,message=`disabled and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'excluded by overrideConfig, which is the whole configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove disabled or overrideConfig'`,fieldPath=`.disabled`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.settings) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().settings))`,message=`settings and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'excluded by overrideConfig, which is the whole configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove settings or overrideConfig'`,fieldPath=`.settings`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.removeSettings) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().removeSettings))`,message=`removeSettings and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'excluded by overrideConfig, which is the whole configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove removeSettings or overrideConfig'`,fieldPath=`.removeSettings`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.baseConfig) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().baseConfig))`,message=`baseConfig and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'excluded by overrideConfig, which is the whole configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove baseConfig or overrideConfig'`,fieldPath=`.baseConfig`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.distribution.baseProviders) || self.distribution.baseProviders != 'Required' || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().distribution.baseProviders) && oldSelf.value().distribution.baseProviders == 'Required')`,message=`baseProviders and overrideConfig exclude each other: remove one of them`,messageExpression=`'excluded by overrideConfig, which is the whole configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove baseProviders or overrideConfig'`,fieldPath=`.distribution.baseProviders`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`has(self.overrideConfig) || !has(self.distribution.baseProviders) || self.distribution.baseProviders != 'Required' || has(self.providers) || has(self.externalProviders) || (oldSelf.hasValue() && has(oldSelf.value().distribution.baseProviders) && oldSelf.value().distribution.baseProviders == 'Required' && !has(oldSelf.value().providers) && !has(oldSelf.value().externalProviders))`,message=`Required keeps only your own providers, and the spec has none: add a provider to spec.providers or spec.externalProviders, or remove baseProviders`,fieldPath=`.distribution.baseProviders`,reason=FieldValueForbidden,optionalOldSelf=true
type LlamaStackDistributionSpec struct {
	// distribution says which server runs: a known name or an image. Required.
	// +required
	Distribution DistributionSpec `json:"distribution"`

	// providers configures the server's providers, API by API. A provider with
	// the id of one in the base configuration replaces it, any other is added. A
	// provider has provider (its type, required), id, endpoint, apiKey, secretRefs
	// and settings; any other key of its configuration may stand beside them as
	// {secretKeyRef: {name, key}}.
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
	// Its last step: objects are merged, lists and values replaced. It may not
	// contain what another field sets, and no null. ${env.NAME} takes a variable
	// of secretEnv. Excludes overrideConfig. Unset: nothing is patched.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:MinProperties=1
	// +optional
	Settings *apiextensionsv1.JSON `json:"settings,omitempty"`

	// removeSettings lists dotted paths that are taken out of the generated
	// configuration, for example server.quota, before settings are merged in. It
	// may not contain what another field sets. Excludes overrideConfig. Unset:
	// nothing is taken out.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[^.[:space:]]+([.][^.[:space:]]+)*$')`,messageExpression=`'"' + self + '" is not a dotted path: write one like server.quota'`
	// +optional
	RemoveSettings []string `json:"removeSettings,omitempty"`

	// secretEnv adds environment variables from Secrets, to be used as
	// ${env.NAME} in settings, baseConfig or overrideConfig. Names are upper
	// case ([A-Z][A-Z0-9_]*) and do not start with LLSD_.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self.all(name, name.matches('^[A-Z][A-Z0-9_]*$'))`,messageExpression=`'%s is not a name that the server reads: use upper-case letters, digits and "_", and begin with a letter'.format([self.filter(name, !name.matches('^[A-Z][A-Z0-9_]*$'))])`
	// +kubebuilder:validation:XValidation:rule=`self.all(name, !name.startsWith('LLSD_'))`,messageExpression=`"%s begins with LLSD_, which is reserved for the operator's variables: use another name".format([self.filter(name, name.startsWith('LLSD_'))])`
	// +optional
	SecretEnv map[string]SecretReference `json:"secretEnv,omitempty"`

	// disabled lists what the server does not serve: an API (postTraining or
	// post_training), a provider (inference/groq), or every provider of an API
	// that the base has and the spec does not declare (inference/*).
	// Excludes overrideConfig. Unset: the server serves the whole base.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[^/]+(/[^/]+)?$')`,messageExpression=`'"' + self + '" is neither an API, such as postTraining, nor a provider of an API, such as inference/groq'`
	// +kubebuilder:validation:items:XValidation:rule=`!self.contains('*') || self.matches('^[^*/]+/[*]$') || !self.matches('^[^/]+(/[^/]+)?$')`,messageExpression=`'"' + self + '" has "*" in the wrong place; write an API and "/*", such as inference/*, or set spec.distribution.baseProviders to Required'`
	// +optional
	Disabled []string `json:"disabled,omitempty"`

	// networking says how the server is reached.
	// +optional
	Networking *NetworkingSpec `json:"networking,omitempty"`

	// workload says how the server runs as a Deployment.
	// +kubebuilder:default={}
	// +optional
	Workload *WorkloadSpec `json:"workload,omitempty"`

	// externalProviders adds providers from container images, by API name.
	// They are merged last and win over a configured provider of the same id.
	// Works with overrideConfig too.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	ExternalProviders map[string]ExternalProviders `json:"externalProviders,omitempty"`

	// offline keeps the server from looking outside: variables switch off the
	// downloads and the telemetry of its libraries, and what the configuration
	// has that needs the internet is told, or refused where the server would not
	// start. A variable in workload.overrides.env wins. Unset: false.
	// +optional
	Offline bool `json:"offline,omitempty"`

	// modelFiles gives the server files of models and tokenizers from a volume or
	// an image. Unset: those of the server's image, and what it downloads.
	// +optional
	ModelFiles *ModelFilesSpec `json:"modelFiles,omitempty"`

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
//
// +kubebuilder:validation:XValidation:rule=`has(self.name) || has(self.image)`,message=`needs name (a known distribution, for example starter) or image`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.name) || !has(self.image)`,message=`name and image are mutually exclusive: remove one of them`,messageExpression=`'name "' + self.name + '" and image "' + self.image + '" are mutually exclusive: remove one of them'`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.imageUpdates) || self.imageUpdates != 'Follow' || !has(self.image) || !self.image.contains('@')`,message=`Follow needs an image with a tag and without a digest: remove the digest, or imageUpdates`,messageExpression=`'Follow needs an image without a digest, and "' + self.image + '" has one, which always refers to the same image: remove the digest, or imageUpdates'`,fieldPath=`.imageUpdates`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.version) || has(self.name)`,message=`version is valid only with name: remove one of them`,messageExpression=`'"' + self.version + '" selects the release of a named distribution: set name instead of image, or put the version in the tag of image'`,fieldPath=`.version`,reason=FieldValueForbidden
type DistributionSpec struct {
	// name is a distribution the operator knows, for example starter.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Name string `json:"name,omitempty"`

	// image is a reference to a distribution image.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|[[][0-9a-fA-F:]+[]])(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9+._-]+:[0-9a-fA-F]{32,128})?$')`,messageExpression=`'"' + self + '" is not an image reference: write [registry/]repository[:tag][@digest], with the repository in lower case'`
	// +optional
	Image string `json:"image,omitempty"`

	// version is the server release to run, for example 0.7 or 0.7.3. Only with
	// name. Unset: the operator's default for that name when the object is new;
	// an operator upgrade does not change it.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+)?([-+a-z][-+.a-zA-Z0-9]*)?$')`,messageExpression=`'"' + self + '" is not a server release: write one like 0.7 or 0.7.3'`
	// +optional
	Version string `json:"version,omitempty"`

	// imageUpdates is Stay or Follow: whether pods follow the tag of the image when it is moved to another image. Stay keeps
	// the image that the operator read, and tells of the move in status and an event. Follow rolls the pods to the other
	// image, and runs the image by its digest. The operator asks the registry once an hour. Unset: Stay.
	// +kubebuilder:validation:Enum=Stay;Follow
	// +optional
	ImageUpdates ImageUpdates `json:"imageUpdates,omitempty"`

	// baseProviders is All or Required: which providers of the base the server has in addition to those of providers and
	// externalProviders. The base is the configuration of the image, or baseConfig. All keeps every provider. Required keeps
	// only providers of the APIs that your own providers need and that no provider of yours serves, with a warning for each
	// of them, and the server serves no other APIs. Required excludes overrideConfig. Unset: All.
	// +kubebuilder:validation:Enum=All;Required
	// +optional
	BaseProviders BaseProviders `json:"baseProviders,omitempty"`
}

// BaseProviders selects the providers of the base that the server has.
type BaseProviders string

const (
	// BaseProvidersAll keeps every provider of the base.
	BaseProvidersAll BaseProviders = "All"
	// BaseProvidersRequired keeps the providers of the base that the providers of the spec need.
	BaseProvidersRequired BaseProviders = "Required"
)

// ImageUpdates says what becomes of the pods when the tag of their image is moved to another image.
type ImageUpdates string

const (
	// ImageUpdatesStay: the pods keep the image.
	ImageUpdatesStay ImageUpdates = "Stay"
	// ImageUpdatesFollow: the pods roll to the image that the tag stands for.
	ImageUpdatesFollow ImageUpdates = "Follow"
)

// BaseConfigSource is a key of a ConfigMap that holds a base configuration.
type BaseConfigSource struct {
	// configMapName is a ConfigMap in the object's namespace. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a ConfigMap: use lower-case letters, digits, "-" and ".", and begin and end with a letter or digit'`
	// +required
	ConfigMapName string `json:"configMapName"`

	// key is the key that holds the configuration. Unset: config.yaml.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,messageExpression=`'"' + self + '" is not a valid key of a ConfigMap: use letters, digits, "-", "_" and "."'`
	// +optional
	Key string `json:"key,omitempty"`
}

// OverrideConfigSource is a key of a ConfigMap that holds a whole configuration.
type OverrideConfigSource struct {
	// configMapName is a ConfigMap in the object's namespace. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a ConfigMap: use lower-case letters, digits, "-" and ".", and begin and end with a letter or digit'`
	// +required
	ConfigMapName string `json:"configMapName"`

	// key is the key that holds the configuration. Unset: config.yaml.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,messageExpression=`'"' + self + '" is not a valid key of a ConfigMap: use letters, digits, "-", "_" and "."'`
	// +optional
	Key string `json:"key,omitempty"`
}

// DefaultConfigKey is the ConfigMap key read when baseConfig or overrideConfig
// name none.
const DefaultConfigKey = "config.yaml"
