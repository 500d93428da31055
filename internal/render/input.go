package render

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// Input is everything the objects of one stack are made of.
type Input struct {
	// Stack is the object the children belong to. It is only read.
	Stack *v1alpha2.LlamaStackDistribution
	// Image is the server's image.
	Image string
	// Server says what the release of the server in Image needs to be told.
	Server Server
	// Config is the configuration to mount. Nil: the image's own runs, and nothing is mounted.
	Config *Config
	// Base is the base configuration to keep beside a generated one. Nil: none is kept.
	Base *Base
	// CABundle is what the server trusts in outgoing calls. Nil: what its image does.
	CABundle *CABundle
	// Paths are variables that point the server's directories at the data volume, in order.
	Paths []EnvVar
	// Offline are variables that keep the server from looking outside, in order. None: it may.
	Offline []EnvVar
	// Secrets are variables that carry the values of Secrets, in order.
	Secrets []EnvVar
	// StorageSecret is the name of the Secret with derived values. Empty: the usual one.
	StorageSecret string
	// Launcher starts the server on the configuration by a command of ours in place of the image's entrypoint, as
	// stacks of v1alpha1 have always been started. A command of the user's own goes first.
	Launcher bool
	// ServiceLinks gives the pods the variables that Kubernetes derives from the Services of their namespace.
	ServiceLinks bool
	// Directories have to exist before the server starts, in the notation of its configuration. None: the server makes
	// what it needs.
	Directories []string
	// Registry says how the server's registry is brought in line before the server starts. Nil: it is left alone.
	Registry *Registry
	// External are the external providers that the pods install before the server starts, in the order of their
	// installation. None: nothing is installed.
	External []ExternalProvider
	// ExternalFiles are the program that does it, by name. They are used where there are external providers.
	ExternalFiles map[string]string
	// Inputs is the digest of everything that feeds the pod template, see package record. Empty: not recorded.
	Inputs string
	// Expose says how the stack is reached from outside. Nil: it is not.
	Expose *v1alpha2.ExposeSpec
	// EarlierHost says that what exposes the stack has the host name, or none, that operators before this one gave it.
	EarlierHost bool
	// Backend says by what a Gateway knows the server. Nil: there is nothing by which it could.
	Backend *Backend
	// Cluster is what the stack runs in.
	Cluster Cluster
	// OpenShift leaves uid, gid and fsGroup to the cluster's security context constraints.
	OpenShift bool
	// KeepsGroup gives the volumes of a stack of v1alpha1 the usual group on OpenShift too.
	KeepsGroup bool
}

// Server holds the facts of a server release that the pod has to meet.
type Server struct {
	// Release is the release line, `0.7`; it is written on the claim whose data the server owns. Empty: unknown.
	Release string
	// PortVariables are the environment variables with the port to listen on. Several when the release is unknown:
	// a server ignores those of another release.
	PortVariables []string
	// ConfigVariables are environment variables with the path of the config file, beside LLAMA_STACK_CONFIG and
	// RUN_CONFIG_PATH which every stack has had.
	ConfigVariables []string
	// Command starts the server with the path of the config file as its last argument, for an image whose own entrypoint
	// looks nowhere for a configuration (0.2). Empty: the entrypoint finds it.
	Command []string
	// Insecure says that the server speaks plain HTTP only when an argument tells it to.
	Insecure bool
	// ServesTLS says that the server speaks HTTPS, and nothing else.
	ServesTLS bool
	// WritesTemp says that the server writes its configuration to /tmp, secrets in clear: /tmp is kept in memory.
	WritesTemp bool
}

// Config is a configuration mounted into the server's container.
type Config struct {
	// ConfigMapName is the ConfigMap that holds it.
	ConfigMapName string
	// Key is the key in the ConfigMap.
	Key string
	// Whole mounts every key as a file under its own name, and not Key alone as config.yaml.
	Whole bool
	// Hash is the SHA-256 of the content, in hex. A changed hash rolls the pods (FR-026).
	Hash string
	// Data is the content of a ConfigMap to make. Nil: the ConfigMap is the user's own.
	Data []byte
}

// Base is a base configuration to keep (a registry that changes or goes away must not take a stack's base with it).
type Base struct {
	// ConfigMapName is the ConfigMap to make.
	ConfigMapName string
	// Data is the base as it was read.
	Data []byte
}

// ExternalProvider is a provider's package that an init container copies out of its image.
type ExternalProvider struct {
	// API and ID name the provider in the configuration, Path is the field of the spec that asks for it.
	API, ID, Path string
	// Image holds the package, with the digest where it was read. PullPolicy is empty when the user gave none.
	Image      string
	PullPolicy corev1.PullPolicy
	// Type and Module are those of the configuration. Empty: only the image knows them, and the last init container
	// writes them into the configuration.
	Type, Module string
}

// EnvVar is one environment variable: a plain value, a key of a Secret, or an annotation of the pod.
type EnvVar struct {
	Name  string
	Value string
	// SecretName and SecretKey point to the value in the stack's namespace. Empty: Value is meant.
	SecretName string
	SecretKey  string
	// Annotation names the annotation of the pod that has the value. Empty: another field is meant.
	Annotation string
}

// Port is the port a stack listens on (FR-060).
func Port(spec *v1alpha2.LlamaStackDistributionSpec) int32 {
	if spec.Networking == nil || spec.Networking.Port == 0 {
		return v1alpha2.DefaultPort
	}
	return spec.Networking.Port
}

// Workers is the number of server processes in a pod.
func Workers(spec *v1alpha2.LlamaStackDistributionSpec) int32 {
	if workers := workload(spec).Workers; workers != nil {
		return *workers
	}
	return 1
}

// TLSSecret is the Secret with the server's certificate. Empty: the spec asks for none.
func TLSSecret(spec *v1alpha2.LlamaStackDistributionSpec) string {
	if spec.Networking == nil || spec.Networking.TLS == nil || !spec.Networking.TLS.Enabled {
		return ""
	}
	return spec.Networking.TLS.SecretName
}

// MountPath is where the data volume is mounted.
func MountPath(spec *v1alpha2.LlamaStackDistributionSpec) string {
	if storage := workload(spec).Storage; storage != nil && storage.MountPath != "" {
		return storage.MountPath
	}
	return v1alpha2.DefaultMountPath
}

// ServiceAccountName is the ServiceAccount that the pods run as.
func ServiceAccountName(stack *v1alpha2.LlamaStackDistribution) string {
	if name := overrides(&stack.Spec).ServiceAccountName; name != "" {
		return name
	}
	return names.ServiceAccount(stack.Name)
}

// storageSecret is the name of the Secret with derived values.
func storageSecret(in Input) string {
	return cmp.Or(in.StorageSecret, names.StorageSecret(in.Stack.Name))
}

// compat says that the stack was born as v1alpha1 and keeps what such stacks rely on.
func compat(in Input) bool { return names.Compat(in.Stack.Annotations) }

// workload and overrides are what the spec has, never nil.
func workload(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.WorkloadSpec {
	if spec.Workload == nil {
		return &v1alpha2.WorkloadSpec{}
	}
	return spec.Workload
}

func overrides(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.WorkloadOverrides {
	if spec.Workload == nil || spec.Workload.Overrides == nil {
		return &v1alpha2.WorkloadOverrides{}
	}
	return spec.Workload.Overrides
}
