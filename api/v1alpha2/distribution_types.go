package v1alpha2

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LlamaStackDistribution runs one Llama Stack server. It selects a distribution, changes the configuration of the
// distribution, and determines how the server runs in the cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=llsd
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.workload.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.status.resolvedDistribution.serverRelease`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status['routeURL','serviceURL']`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Phase",type=string,priority=1,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Providers",type=integer,priority=1,JSONPath=`.status.configGeneration.providerCount`
// +kubebuilder:printcolumn:name="Available",type=integer,priority=1,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Distribution",type=string,priority=1,JSONPath=`.status.resolvedDistribution.image`
// +kubebuilder:printcolumn:name="Config",type=string,priority=1,JSONPath=`.status.configGeneration.configMapName`
// +kubebuilder:printcolumn:name="Server",type=string,priority=1,JSONPath=`.status.version.llamaStackServerVersion`
// +kubebuilder:printcolumn:name="Operator",type=string,priority=1,JSONPath=`.status.version.operatorVersion`
type LlamaStackDistribution struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state.
	// +required
	Spec LlamaStackDistributionSpec `json:"spec"`

	// status is the last observed state.
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

// LlamaStackDistributionSpec is the desired state of a stack.
//
// The rules compare the new object with the old one, and allow a combination that the old object already has. The API
// server's validation ratcheting cannot allow such a combination, because ratcheting never treats a spec as unchanged
// if a field of the spec has no schema.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.providers) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().providers))`,message=`providers and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove providers or overrideConfig'`,fieldPath=`.providers`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.resources) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().resources))`,message=`resources and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove resources or overrideConfig'`,fieldPath=`.resources`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.storage) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().storage))`,message=`storage and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove storage or overrideConfig'`,fieldPath=`.storage`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.disabled) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().disabled))`,message=`disabled and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove disabled or overrideConfig'`,fieldPath=`.disabled`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.settings) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().settings))`,message=`settings and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove settings or overrideConfig'`,fieldPath=`.settings`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.removeSettings) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().removeSettings))`,message=`removeSettings and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove removeSettings or overrideConfig'`,fieldPath=`.removeSettings`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.baseConfig) || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().baseConfig))`,message=`baseConfig and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove baseConfig or overrideConfig'`,fieldPath=`.baseConfig`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`!has(self.overrideConfig) || !has(self.distribution.baseProviders) || self.distribution.baseProviders != 'Required' || (oldSelf.hasValue() && has(oldSelf.value().overrideConfig) && has(oldSelf.value().distribution.baseProviders) && oldSelf.value().distribution.baseProviders == 'Required')`,message=`baseProviders and overrideConfig are mutually exclusive: remove one of them`,messageExpression=`'cannot be combined with overrideConfig, which sets the complete configuration (ConfigMap "' + self.overrideConfig.configMapName + '"): remove baseProviders or overrideConfig'`,fieldPath=`.distribution.baseProviders`,reason=FieldValueForbidden,optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`has(self.overrideConfig) || !has(self.distribution.baseProviders) || self.distribution.baseProviders != 'Required' || has(self.providers) || has(self.externalProviders) || (oldSelf.hasValue() && has(oldSelf.value().distribution.baseProviders) && oldSelf.value().distribution.baseProviders == 'Required' && !has(oldSelf.value().providers) && !has(oldSelf.value().externalProviders))`,message=`"Required" keeps only your own providers and the providers that they need, but the spec has no providers: add a provider to spec.providers or spec.externalProviders, or remove baseProviders`,fieldPath=`.distribution.baseProviders`,reason=FieldValueForbidden,optionalOldSelf=true
type LlamaStackDistributionSpec struct {
	// distribution selects the server: a known name or an image. Required.
	// +required
	Distribution DistributionSpec `json:"distribution"`

	// providers configures the server's providers for each API. A provider replaces the provider that has the same ID in
	// the base configuration, or is added if there is no such provider. A provider has the keys provider (its type,
	// required), id, endpoint, apiKey, secretRefs and settings. You can set any other key of its configuration next to
	// these keys, as {secretKeyRef: {name, key}}. The field providers is mutually exclusive with overrideConfig. If unset,
	// the server has the providers of the base configuration.
	// +optional
	Providers *ProvidersSpec `json:"providers,omitempty"`

	// resources registers models, tools and shields when the server starts. It is mutually exclusive with overrideConfig.
	// If unset, the server registers the resources of the base configuration.
	// +optional
	Resources *ResourcesSpec `json:"resources,omitempty"`

	// storage sets where the server keeps its state. It is mutually exclusive with overrideConfig. If unset, the server
	// uses the storage of the base configuration.
	// +optional
	Storage *StateStorageSpec `json:"storage,omitempty"`

	// settings is a JSON merge patch for the generated configuration, for sections that have no field in the spec, such as
	// server.auth and vector_stores. The operator applies the patch last. It merges objects, and replaces lists and scalar
	// values. The patch must not contain null, or a setting that another field sets. ${env.NAME} refers to a variable in
	// secretEnv. The field settings is mutually exclusive with overrideConfig. If unset, nothing is patched.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:MinProperties=1
	// +optional
	Settings *apiextensionsv1.JSON `json:"settings,omitempty"`

	// removeSettings lists dotted paths that are removed from the generated configuration, for example server.quota,
	// before the operator merges the field settings. The list must not contain a setting that another field sets. The
	// field removeSettings is mutually exclusive with overrideConfig. If unset, nothing is removed.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[^.[:space:]]+([.][^.[:space:]]+)*$')`,messageExpression=`'"' + self + '" is not a dotted path: write a path such as server.quota'`
	// +optional
	RemoveSettings []string `json:"removeSettings,omitempty"`

	// secretEnv adds environment variables from Secrets. Use them as ${env.NAME} in settings, baseConfig or
	// overrideConfig. Names must be in upper case ([A-Z][A-Z0-9_]*). They must not start with LLSD_ or LLS_, and must not
	// be names of variables that the operator or the image sets.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`self.all(name, name.matches('^[A-Z][A-Z0-9_]*$'))`,messageExpression=`'%s is not a valid variable name: use uppercase letters, digits and "_", and begin with a letter'.format([self.filter(name, !name.matches('^[A-Z][A-Z0-9_]*$'))])`
	// +kubebuilder:validation:XValidation:rule=`self.all(name, !name.startsWith('LLSD_'))`,messageExpression=`"%s begins with LLSD_, which is reserved for the operator's variables: use another name".format([self.filter(name, name.startsWith('LLSD_'))])`
	// +optional
	SecretEnv map[string]SecretReference `json:"secretEnv,omitempty"`

	// disabled lists the APIs and providers that the server must not have. An entry is the name of an API (postTraining or
	// post_training), a provider of the base configuration (inference/groq), or an API with a wildcard (inference/*). A
	// wildcard selects all of the API's providers that the base configuration contains and the spec does not declare. The
	// field disabled is mutually exclusive with overrideConfig. If unset, the server serves all APIs of the base
	// configuration.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[^/]+(/[^/]+)?$')`,messageExpression=`'"' + self + '" is not an API or a provider: write an API such as postTraining, or a provider such as inference/groq'`
	// +kubebuilder:validation:items:XValidation:rule=`!self.contains('*') || self.matches('^[^*/]+/[*]$') || !self.matches('^[^/]+(/[^/]+)?$')`,messageExpression=`'"' + self + '" has "*" in the wrong place; write an API and "/*", such as inference/*, or set spec.distribution.baseProviders to Required'`
	// +optional
	Disabled []string `json:"disabled,omitempty"`

	// networking configures how clients reach the server.
	// +optional
	Networking *NetworkingSpec `json:"networking,omitempty"`

	// workload configures how the server runs as a Deployment.
	// +kubebuilder:default={}
	// +optional
	Workload *WorkloadSpec `json:"workload,omitempty"`

	// externalProviders adds providers from container images. The keys are the names of APIs. The operator merges these
	// providers after those in the field providers. An external provider replaces a configured provider that has the same
	// ID. External providers can be combined with overrideConfig.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	ExternalProviders map[string]ExternalProviders `json:"externalProviders,omitempty"`

	// offline configures the server for a network without internet access. The operator sets environment variables that
	// disable the downloads and the telemetry of the server's libraries. If the configuration requires internet access,
	// the operator reports a warning, or rejects the stack if the server would not start. A variable that you set in
	// workload.overrides.env takes precedence. Defaults to false.
	// +optional
	Offline bool `json:"offline,omitempty"`

	// modelFiles provides model and tokenizer files from a volume or an image. If unset, the server uses the files in its
	// image and downloads all others.
	// +optional
	ModelFiles *ModelFilesSpec `json:"modelFiles,omitempty"`

	// baseConfig selects a ConfigMap with the base configuration, which the operator uses instead of the configuration in
	// the image. It is mutually exclusive with overrideConfig.
	// +optional
	BaseConfig *BaseConfigSource `json:"baseConfig,omitempty"`

	// overrideConfig selects a ConfigMap with the complete server configuration. It is mutually exclusive with providers,
	// resources, storage, disabled, settings, removeSettings, baseConfig, and distribution.baseProviders: Required. The
	// other fields, such as networking, workload and externalProviders, still apply.
	// +optional
	OverrideConfig *OverrideConfigSource `json:"overrideConfig,omitempty"`
}

// DistributionSpec selects the server that runs. Exactly one of name and image must be set.
//
// +kubebuilder:validation:XValidation:rule=`has(self.name) || has(self.image)`,message=`set either name (a known distribution, for example starter) or image`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.name) || !has(self.image)`,message=`name and image are mutually exclusive: remove one of them`,messageExpression=`'name "' + self.name + '" and image "' + self.image + '" are mutually exclusive: remove one of them'`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.imageUpdates) || self.imageUpdates != 'Follow' || !has(self.image) || !self.image.contains('@')`,message=`Follow requires an image with a tag and without a digest: remove the digest, or remove imageUpdates`,messageExpression=`'Follow requires an image without a digest, but "' + self.image + '" has a digest and always refers to the same image: remove the digest, or remove imageUpdates'`,fieldPath=`.imageUpdates`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.version) || has(self.name)`,message=`version is valid only with name: set name instead of image, or remove version`,messageExpression=`'"' + self.version + '" selects the release of a named distribution: set name instead of image, or put the version in the tag of the image'`,fieldPath=`.version`,reason=FieldValueForbidden
type DistributionSpec struct {
	// name is the name of a distribution that the operator supports, for example starter.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Name string `json:"name,omitempty"`

	// image is a reference to a distribution image.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|[[][0-9a-fA-F:]+[]])(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9+._-]+:[0-9a-fA-F]{32,128})?$')`,messageExpression=`'"' + self + '" is not an image reference: write [registry/]repository[:tag][@digest], with the repository in lower case'`
	// +optional
	Image string `json:"image,omitempty"`

	// version is the server release to run, for example 0.7 or 0.7.3. You can set it only together with name. Defaults to
	// the server release that the operator's catalog selects for that name when the object is created. An operator upgrade
	// does not change it.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+)?([-+a-z][-+.a-zA-Z0-9]*)?$')`,messageExpression=`'"' + self + '" is not a server release: write a release such as 0.7 or 0.7.3'`
	// +optional
	Version string `json:"version,omitempty"`

	// imageUpdates determines whether the pods follow the tag of the image when the tag moves to another image: Stay or
	// Follow. With Stay, the pods keep the image that the operator read, and the status and an event report the move.
	// With Follow, the operator rolls out the new image, and the pods refer to it by digest. The operator queries the
	// registry once an hour. Defaults to Stay.
	// +kubebuilder:validation:Enum=Stay;Follow
	// +optional
	ImageUpdates ImageUpdates `json:"imageUpdates,omitempty"`

	// baseProviders determines which providers of the base configuration the server has in addition to those in the fields
	// providers and externalProviders: All or Required. The base configuration is the one in the image or in baseConfig.
	// With All, the server has all providers of the base configuration. With Required, the server has one provider of the
	// base configuration for each API that another provider needs and that you do not configure, and it serves no other
	// APIs. A warning names each provider that the server keeps. Required and overrideConfig are mutually exclusive.
	// Defaults to All.
	// +kubebuilder:validation:Enum=All;Required
	// +optional
	BaseProviders BaseProviders `json:"baseProviders,omitempty"`
}

// BaseProviders determines which providers of the base configuration the server has.
type BaseProviders string

const (
	// BaseProvidersAll keeps every provider of the base configuration.
	BaseProvidersAll BaseProviders = "All"
	// BaseProvidersRequired keeps the providers of the base configuration that the providers in the spec need.
	BaseProvidersRequired BaseProviders = "Required"
)

// ImageUpdates determines whether the pods follow the tag of their image when the tag moves to another image.
type ImageUpdates string

const (
	// ImageUpdatesStay means that the pods keep the image.
	ImageUpdatesStay ImageUpdates = "Stay"
	// ImageUpdatesFollow means that the operator rolls out the image that the tag refers to.
	ImageUpdatesFollow ImageUpdates = "Follow"
)

// BaseConfigSource selects a key of a ConfigMap that contains a base configuration.
type BaseConfigSource struct {
	// configMapName is the name of a ConfigMap in the object's namespace. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a ConfigMap: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."'`
	// +required
	ConfigMapName string `json:"configMapName"`

	// key is the key with the configuration. Defaults to config.yaml.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,messageExpression=`'"' + self + '" is not a valid key of a ConfigMap: use at most 253 letters, digits, "-", "_" and "."'`
	// +optional
	Key string `json:"key,omitempty"`
}

// OverrideConfigSource selects a key of a ConfigMap that contains a complete configuration.
type OverrideConfigSource struct {
	// configMapName is the name of a ConfigMap in the object's namespace. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a ConfigMap: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."'`
	// +required
	ConfigMapName string `json:"configMapName"`

	// key is the key with the configuration. Defaults to config.yaml.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,messageExpression=`'"' + self + '" is not a valid key of a ConfigMap: use at most 253 letters, digits, "-", "_" and "."'`
	// +optional
	Key string `json:"key,omitempty"`
}

// DefaultConfigKey is the key of the ConfigMap if baseConfig.key or overrideConfig.key is unset.
const DefaultConfigKey = "config.yaml"
