package render

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// Input is the complete input for the objects of one stack.
type Input struct {
	// Stack is the owner of the objects. The package does not change it.
	Stack *v1alpha2.LlamaStackDistribution
	// Image is the server's image.
	Image string
	// Server describes the needs of the server release in Image.
	Server Server
	// Config is the configuration to mount. Nil means that the server uses the image's own configuration, and that the
	// pods mount no configuration.
	Config *Config
	// Base is the base configuration to keep with a generated configuration. Nil means that no base is kept.
	Base *Base
	// CABundle contains the certificates that the server trusts for outgoing calls. Nil means the certificates in the
	// server's image.
	CABundle *CABundle
	// Paths are, in order, the variables with the server's directories.
	Paths []EnvVar
	// Offline are, in order, the variables that keep the server from accessing the internet. Empty means that the
	// server may access the internet.
	Offline []EnvVar
	// Secrets are variables with the values of Secrets, in order.
	Secrets []EnvVar
	// StorageSecret is the name of the Secret with derived values: the parts of connection strings (see function
	// StorageSecret). Empty means the usual name.
	StorageSecret string
	// Launcher reports whether one of the operator's commands, and not the image's entrypoint, starts the server with
	// the configuration, as is usual for v1alpha1 stacks. The user's own command takes precedence.
	Launcher bool
	// ServiceLinks reports whether the pods get the variables that Kubernetes derives from the Services of their
	// namespace.
	ServiceLinks bool
	// Directories lists the directories that must exist before the server starts, as they are written in its
	// configuration. Empty means that the server creates all directories that it needs.
	Directories []string
	// Registry describes how the pods update the server's registry before the server starts. Nil means that the pods do
	// not update it.
	Registry *Registry
	// External are the external providers that the pods install before the server starts, in installation order. Empty
	// means that the pods install nothing.
	External []ExternalProvider
	// ExternalFiles are the files of the installation program, by name. The package uses them only if there are
	// external providers.
	ExternalFiles map[string]string
	// Inputs is the digest of all inputs of the pod template (see package rollout). Empty means that it is not recorded.
	Inputs string
	// Expose describes how the stack is exposed outside the cluster. Nil means that it is not exposed.
	Expose *v1alpha2.ExposeSpec
	// NeedsHost reports whether the stack must have a host name, because the domains of its namespace are bounded.
	NeedsHost bool
	// Backend holds the values with which a Gateway verifies the server. Nil means that there are no such values.
	Backend *Backend
	// Running holds the endpoints of the pods that run, for the objects that lead clients to the pods. During a rollout,
	// they can differ from the endpoint in the spec. Empty means that no pods run, or that they are unknown.
	Running []Endpoint
	// Cluster describes the cluster of the stack.
	Cluster Cluster
	// OpenShift reports whether the cluster's security context constraints, and not the operator, set the UID, GID and
	// fsGroup.
	OpenShift bool
	// KeepsGroup reports whether the volumes of a v1alpha1 stack have the usual group on OpenShift as well.
	KeepsGroup bool
}

// Server holds the facts about a server release that affect the pod.
type Server struct {
	// Release is the release line, such as `0.7`. The operator writes it as an annotation of the claim with the server's
	// data. Empty means that the release is unknown.
	Release string
	// PortVariables are the environment variables for the port. If the release is unknown, they include the variables of
	// several releases, because a server ignores the variables of other releases.
	PortVariables []string
	// ConfigVariables are environment variables for the path of the config file, in addition to LLAMA_STACK_CONFIG and
	// RUN_CONFIG_PATH, which every stack has always had.
	ConfigVariables []string
	// Command starts the server with the path of the config file as its last argument, for an image whose own entrypoint
	// does not look for a configuration (0.2). Empty means that the entrypoint finds the configuration.
	Command []string
	// Insecure reports whether the server needs an argument to serve plain HTTP.
	Insecure bool
	// ServesTLS reports whether the server serves HTTPS only.
	ServesTLS bool
	// WritesTemp reports whether the server writes its configuration to /tmp, with secrets in clear text. In this case,
	// /tmp is a volume in memory.
	WritesTemp bool
}

// Config is a configuration mounted into the server's container.
type Config struct {
	// ConfigMapName is the name of its ConfigMap.
	ConfigMapName string
	// Key is the key in the ConfigMap.
	Key string
	// Whole reports whether every key is mounted as a file with the name of the key, instead of only Key as config.yaml.
	Whole bool
	// Hash is the SHA-256 of the content, in hex. If the hash changes, the Deployment replaces the pods (FR-026).
	Hash string
	// Data is the content of the ConfigMap to create. Nil means that the ConfigMap is the user's own.
	Data []byte
}

// Base is a base configuration to keep, so that a stack does not lose its base when a registry changes or is removed.
type Base struct {
	// ConfigMapName is the name of the ConfigMap to create. It can be that of Config.
	ConfigMapName string
	// Data is the base as the operator read it.
	Data []byte
}

// ExternalProvider is a provider's package that an init container copies from its image.
type ExternalProvider struct {
	// API and ID identify the provider in the configuration. Path is the path of the spec field that declares it.
	API, ID, Path string
	// Image contains the package. The image has a digest if the operator has read the digest. PullPolicy is empty if the
	// user sets no policy.
	Image      string
	PullPolicy corev1.PullPolicy
	// Type and Module are the values in the configuration. Empty means that only the image contains them, and the last
	// init container writes them into the configuration.
	Type, Module string
}

// EnvVar is one environment variable: a plain value, a key of a Secret, or an annotation of the pod.
type EnvVar struct {
	Name  string
	Value string
	// SecretName and SecretKey identify the key of a Secret in the stack's namespace. Empty means that the value is not
	// in a Secret.
	SecretName string
	SecretKey  string
	// Annotation is the name of the pod's annotation with the value. Empty means that the value is not in an
	// annotation.
	Annotation string
}

// Port returns the port of a stack (FR-060).
func Port(spec *v1alpha2.LlamaStackDistributionSpec) int32 {
	if spec.Networking == nil || spec.Networking.Port == 0 {
		return v1alpha2.DefaultPort
	}
	return spec.Networking.Port
}

// Workers returns the number of server processes in a pod.
func Workers(spec *v1alpha2.LlamaStackDistributionSpec) int32 {
	if workers := workload(spec).Workers; workers != nil {
		return *workers
	}
	return 1
}

// TLSSecret returns the Secret with the server's certificate. An empty string means that the spec does not enable TLS
// or names no Secret.
func TLSSecret(spec *v1alpha2.LlamaStackDistributionSpec) string {
	if spec.Networking == nil || spec.Networking.TLS == nil || !spec.Networking.TLS.Enabled {
		return ""
	}
	return spec.Networking.TLS.SecretName
}

// MountPath returns the path at which the data volume is mounted.
func MountPath(spec *v1alpha2.LlamaStackDistributionSpec) string {
	if storage := workload(spec).Storage; storage != nil && storage.MountPath != "" {
		return storage.MountPath
	}
	return v1alpha2.DefaultMountPath
}

// ServiceAccountName returns the name of the pods' ServiceAccount.
func ServiceAccountName(stack *v1alpha2.LlamaStackDistribution) string {
	if name := intent.Overrides(&stack.Spec).ServiceAccountName; name != "" {
		return name
	}
	return names.ServiceAccount(stack.Name)
}

// storageSecret returns the name of the Secret with derived values.
func storageSecret(in Input) string {
	return cmp.Or(in.StorageSecret, names.StorageSecret(in.Stack.Name))
}

// compat reports whether the stack was created as v1alpha1 and keeps the behavior that such stacks rely on.
func of(in Input) profile.Profile { return profile.Of(in.Stack.Annotations) }

// workload returns spec.workload, or an empty value if the field is not set.
func workload(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.WorkloadSpec {
	if spec.Workload == nil {
		return &v1alpha2.WorkloadSpec{}
	}
	return spec.Workload
}
