package plan

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
)

// Input is a stack, with everything that was read for it.
type Input struct {
	// Object is the stack. Build does not change it.
	Object *v1alpha2.LlamaStackDistribution
	// Intent is the decoded and valid spec of Object (see validate.Spec).
	Intent *intent.Intent
	// Distribution is the resolved spec.distribution.
	Distribution distribution.Resolved
	// Digest is the digest of the image, if Base was read from the image or the stack follows the tag of its image. The
	// pods run the image with this digest. Empty means that the pods use the image reference as it is written.
	Digest string
	// Packages contains the metadata in the images of external providers, keyed by provider ID (see stackconfig.Input).
	// PackageDigests contains the digests of the images that were read.
	Packages       map[string]*externalprovider.Package
	PackageDigests map[string]string
	// CatalogueImage is the catalog's image for name and version, before overrides. It is empty if the spec sets image.
	CatalogueImage string
	// Running contains what is known of the running stack.
	Running facts.Running
	// Before contains the places of the running pods' data. Nil means that no pods run, or that the places are unknown.
	Before *retention.Places
	// Base is the base configuration. Nil means that no base is needed (see NeedsBase), or that there is no base.
	Base *Base
	// Unread reports whether the labels of the image were not read. If such an image can contain the base (see LacksBase),
	// Build only checks the parts of the stack that do not depend on the base, and the plan has no configuration.
	Unread bool
	// Trust holds the certificates that the server trusts in addition to the public authorities. The zero value adds none.
	Trust Trust
	// Serving is the server's certificate in the Secret that the spec names. Nil means that it was not read.
	Serving *cabundle.Serving
	// Unexposed prevents the exposure of the stack, regardless of its spec, because another stack has the same host name.
	Unexposed bool
	// Override is the ConfigMap of spec.overrideConfig. Nil means that the spec has no overrideConfig.
	Override *Override
	// References is the state of the Secrets and ConfigMaps that the pods read. On the command line, it is the zero value.
	References rollout.References
	// OperatorVersion is written to the record, never to the configuration.
	OperatorVersion string
	// Cluster describes the cluster of the stack. It does not affect pods.
	Cluster render.Cluster
	// OpenShift reports whether the cluster, and not the operator, sets the uid, gid and fsGroup of pods.
	OpenShift bool
	// Bounds contains the limits that an administrator sets for the stacks in the namespace. Nil means no limits.
	Bounds *bounds.Rule
}

// Base is a base configuration.
type Base struct {
	// Data is the content as it was read.
	Data []byte
	// Source is the place from which Data was read.
	Source v1alpha2.ConfigSource
}

// Override is the ConfigMap of spec.overrideConfig.
type Override struct {
	// Namespace is the namespace of the ConfigMap if it differs from the stack's namespace. Pods cannot mount a ConfigMap
	// from another namespace. Empty means the stack's namespace.
	Namespace string
	// ConfigMapName and Key identify the source of Data.
	ConfigMapName, Key string
	// Data is the user's configuration.
	Data []byte
	// Files contains all keys of the ConfigMap, for v1alpha1 stacks, which mount all keys.
	Files map[string][]byte
	// Warnings contains a warning if the ConfigMap replaces another one.
	Warnings []stackconfig.Finding
}

// Plan is the desired state of a stack.
type Plan struct {
	// Mode is the source of the configuration.
	Mode Mode
	// ConfigSource is the source of the configuration that the status reports.
	ConfigSource v1alpha2.ConfigSource
	// Objects lists the objects to apply, in order, except the Secret that contains derived values (see
	// WithStorageSecret).
	Objects []render.Object
	// Rendered is the Deployment in Objects with its record, for rollout.Decide.
	Rendered rollout.Rendered
	// Config is the generated or copied configuration. It is nil if the operator writes no configuration.
	Config []byte
	// ServesTLS reports whether the server serves HTTPS only.
	ServesTLS bool
	// ConfigHash is the SHA-256, in hex, of the configuration, or of all keys of a ConfigMap that is mounted completely.
	ConfigHash string
	// ConfigMapName is the name of the mounted ConfigMap, and BaseConfigMapName is the name of the ConfigMap that keeps
	// the base. They can be the same. Empty means that there is no such ConfigMap.
	ConfigMapName, BaseConfigMapName string
	// Exposure is the kind of object that exposes the stack outside the cluster. ExposureServed reports whether the
	// cluster serves this kind. Hostname is the requested host name. An empty Hostname means that the stack is not
	// exposed, or that the cluster chooses the host name.
	Exposure       schema.GroupVersionKind
	ExposureServed bool
	Hostname       string
	// Env lists the variables that the configuration reads, sorted by name.
	Env []stackconfig.EnvVar
	// Derived lists the entries of the Secret with derived values.
	Derived []secretvalue.Derived
	// Models lists the user's models with the names that clients use.
	Models []stackconfig.PublicModel
	// Places contains the places of the stack's data. Losses lists the data in Input.Before that is not in Places.
	Places *retention.Places
	Losses []retention.Loss
	// Warnings lists the warnings for the user.
	Warnings []stackconfig.Finding
	// ProviderCount, ResourceCount and ConfigVersion (the schema version) describe the generated configuration.
	ProviderCount, ResourceCount int32
	ConfigVersion                string
	// Report explains the generated configuration. Nil means that no configuration was generated.
	Report *stackconfig.Report

	source Input
	input  render.Input
	// base is the hash of the base.
	base   string
	secret *rollout.StorageSecret
	// dropped contains the API and the ID of each base provider that spec.distribution.baseProviders removed.
	dropped map[[2]string]bool
}

// WithStorageSecret returns the objects to apply, including the Secret with derived values in its place in the order.
// The values have the keys of Derived.
func (p *Plan) WithStorageSecret(values map[string][]byte) []render.Object {
	if len(p.Derived) == 0 {
		return p.Objects
	}
	return render.InsertSecret(p.Objects, render.StorageSecret(p.input, values))
}

// AllObjects returns the objects to apply, with empty values in the Secret with derived values.
func (p *Plan) AllObjects() []render.Object {
	values := make(map[string][]byte, len(p.Derived))
	for _, value := range p.Derived {
		values[value.Key] = []byte{}
	}
	return p.WithStorageSecret(values)
}

// PodsServeTLS reports whether the pods that clients reach serve HTTPS. It differs from ServesTLS while a rollout
// changes the protocol.
func (p *Plan) PodsServeTLS() bool { return render.PodsServeTLS(p.input) }

// Release returns the server release line of the plan, or an empty string if the release is unknown.
func (p *Plan) Release() string { return p.input.Server.Release }
