package plan

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
)

// Input is a stack and everything that was read for it.
type Input struct {
	// Object is the stack. It is only read.
	Object *v1alpha2.LlamaStackDistribution
	// Intent is what the spec of Object decodes to, without errors: see validate.Spec.
	Intent *intent.Intent
	// Distribution is what spec.distribution stands for.
	Distribution distribution.Resolved
	// Digest of the image, where Base was read from it: the pods run what was read, whatever becomes of the tag. Empty:
	// the image runs as it is written.
	Digest string
	// Packages are what the images of external providers say of themselves, by the provider's id: see
	// stackconfig.Input. PackageDigests are the digests of those images, where they were read.
	Packages       map[string]*externalprovider.Package
	PackageDigests map[string]string
	// CatalogueImage is the operator's image for the name and version asked for, before overrides. Empty for a bare
	// image.
	CatalogueImage string
	// RenderedByTag reports whether the pods that run were rendered for what the tag of their image says. They stay so.
	RenderedByTag bool
	// Limited are resources that the pods which run are limited in by an operator before this one, because of their workers,
	// sorted. They stay so.
	Limited []corev1.ResourceName
	// RunningRelease is the server release line that runs now, from the record or the status. Empty: none runs.
	RunningRelease string
	// Before are the places of what runs. Nil: nothing runs, or nobody knows.
	Before *retention.Places
	// Base is the base configuration. Nil: none is needed, see NeedsBase, or there is none.
	Base *Base
	// Trust is what the server shall trust beside the public authorities. Zero: it trusts what its image does.
	Trust Trust
	// Serving is the server's certificate, as the Secret that the spec names for it has it. Nil: it was not read.
	Serving *cabundle.Serving
	// Unexposed keeps the stack from being exposed, whatever its spec says: another has its host name.
	Unexposed bool
	// EarlierHost reports whether what exposes the stack has the made-up host name, or none, that operators before this one gave
	// it, and keeps it.
	EarlierHost bool
	// Override is the content of spec.overrideConfig. Nil: the spec has none.
	Override *Override
	// References is the state of the Secrets and ConfigMaps that the pods read. Zero offline.
	References rollout.References
	// StorageSecret is the Secret that holds the derived values. Nil: the one of the usual name, which is not recorded.
	StorageSecret *rollout.StorageSecret
	// OperatorVersion goes into the record, never into the configuration.
	OperatorVersion string
	// Cluster is what the stack runs in; no pod depends on it.
	Cluster render.Cluster
	// OpenShift leaves uid, gid and fsGroup to the cluster.
	OpenShift bool
	// KeepsGroup reports whether the pods of a stack of v1alpha1 keep on OpenShift the fsGroup that an operator before this
	// one gave them, see the function of that name.
	KeepsGroup bool
	// Bounds are what an administrator lets the stacks of the namespace use. Nil: anything.
	Bounds *bounds.Rule
	// LongConfigMapName takes the longer name for the generated configuration, because the usual one is taken by
	// other content.
	LongConfigMapName bool
}

// Base is a base configuration.
type Base struct {
	// Data as it was read.
	Data []byte
	// Source says where.
	Source v1alpha2.ConfigSource
}

// Override is the ConfigMap of spec.overrideConfig.
type Override struct {
	// Namespace is another one than the stack's: pods cannot mount what is there. Empty: the stack's.
	Namespace string
	// ConfigMapName and Key say where Data was read.
	ConfigMapName, Key string
	// Data is the user's configuration.
	Data []byte
	// Files are all keys of the ConfigMap, for a stack of v1alpha1, which has it mounted whole.
	Files map[string][]byte
	// Warnings tell that the ConfigMap is used in place of another.
	Warnings []stackconfig.Finding
}

// Plan is what a stack should be.
type Plan struct {
	// Mode says where the configuration comes from.
	Mode Mode
	// ConfigSource says the same as the status has it.
	ConfigSource v1alpha2.ConfigSource
	// Objects to apply, in order. The Secret with derived values is not among them: see WithStorageSecret.
	Objects []render.Object
	// Rendered is the Deployment of Objects with its record, for rollout.Decide.
	Rendered rollout.Rendered
	// Config is the configuration that was generated. Nil when none was.
	Config []byte
	// ServesTLS reports whether the server speaks HTTPS, and nothing else.
	ServesTLS bool
	// ConfigHash is the SHA-256 of the mounted configuration, in hex. Empty when nothing is mounted.
	ConfigHash string
	// ConfigMapName is the mounted ConfigMap, BaseConfigMapName the one that keeps the base. Empty when there is none.
	ConfigMapName, BaseConfigMapName string
	// Exposure is the kind of object by which the stack is reached from outside, ExposureServed reports whether the cluster
	// serves it, Hostname is the host name it asks for. Empty: the stack is not exposed, or has the name that the
	// cluster gives it.
	Exposure       schema.GroupVersionKind
	ExposureServed bool
	Hostname       string
	// Env are the variables that the configuration reads, sorted by name.
	Env []stackconfig.EnvVar
	// Derived are the entries of the Secret with derived values.
	Derived []secretvalue.Derived
	// Models are the user's models as clients call them.
	Models []stackconfig.PublicModel
	// Places are where the stack keeps its data. Losses are what of Input.Before they do not lead to.
	Places *retention.Places
	Losses []retention.Loss
	// Warnings are for the user.
	Warnings []stackconfig.Finding
	// ProviderCount and ResourceCount are the numbers in the generated configuration, ConfigVersion its schema version.
	ProviderCount, ResourceCount int32
	ConfigVersion                string
	// Report explains the generated configuration. Nil when none was generated.
	Report *stackconfig.Report

	input  render.Input
	stores stores
	// hidden is a configuration that is not mounted, because the user mounts one in its place. It is an input all the same:
	// operators before this one mounted it beneath, and their pods stay.
	hidden *render.Config
}

// WithStorageSecret gives the objects to apply with the Secret of derived values, in its place in the order. The
// values are by the keys of Derived.
func (p *Plan) WithStorageSecret(values map[string][]byte) []render.Object {
	if len(p.Derived) == 0 {
		return p.Objects
	}
	return render.InsertSecret(p.Objects, render.StorageSecret(p.input, values))
}

// Release is the server release line that the plan is for; empty when nobody knows it.
func (p *Plan) Release() string { return p.input.Server.Release }
