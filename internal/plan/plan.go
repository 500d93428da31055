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
	// Object is the stack. Build does not change it.
	Object *v1alpha2.LlamaStackDistribution
	// Intent is the decoded spec of Object, without errors: see validate.Spec.
	Intent *intent.Intent
	// Distribution is the resolved spec.distribution.
	Distribution distribution.Resolved
	// Digest is the digest of the image, if Base was read from it. The pods run that image even if the tag changes.
	// Empty means that the image is used as written.
	Digest string
	// Packages are the metadata in the images of external providers, by provider id: see stackconfig.Input.
	// PackageDigests are the digests of the images that were read.
	Packages       map[string]*externalprovider.Package
	PackageDigests map[string]string
	// CatalogueImage is the operator's image for the requested name and version, before overrides. Empty means a bare
	// image.
	CatalogueImage string
	// RenderedByTag reports whether the running pods were rendered for the release in the tag of their image. They keep
	// that.
	RenderedByTag bool
	// Limited are the resources that an earlier operator limited in the running pods because of their workers, sorted.
	// They stay limited.
	Limited []corev1.ResourceName
	// RunningRelease is the server release line that runs now, from the record or the status. Empty means that none
	// runs.
	RunningRelease string
	// Before are the places of the running pods' data. Nil means that nothing runs, or that the places are unknown.
	Before *retention.Places
	// Base is the base configuration. Nil means that none is needed (see NeedsBase) or that there is none.
	Base *Base
	// Trust holds the certificates that the server trusts in addition to the public authorities. The zero value means
	// those of its image.
	Trust Trust
	// Serving is the server's certificate in the Secret that the spec names. Nil means that it was not read.
	Serving *cabundle.Serving
	// Unexposed prevents the exposure of the stack, whatever its spec contains, because another stack has its host
	// name.
	Unexposed bool
	// EarlierHost reports whether the exposure of the stack has the generated host name, or none, from an earlier
	// operator, and keeps it.
	EarlierHost bool
	// Override is the content of spec.overrideConfig. Nil means that the spec has none.
	Override *Override
	// References is the state of the Secrets and ConfigMaps that the pods read. It is the zero value offline.
	References rollout.References
	// StorageSecret is the Secret with the derived values. Nil means the Secret with the usual name, which is not
	// recorded.
	StorageSecret *rollout.StorageSecret
	// OperatorVersion is written to the record, never to the configuration.
	OperatorVersion string
	// Cluster describes the cluster of the stack. No pod depends on it.
	Cluster render.Cluster
	// OpenShift leaves uid, gid and fsGroup to the cluster.
	OpenShift bool
	// KeepsGroup reports whether the pods of a stack of v1alpha1 on OpenShift keep the fsGroup that an earlier operator
	// set. See the function KeepsGroup.
	KeepsGroup bool
	// Bounds are the limits that an administrator sets for the stacks of the namespace. Nil means no limits.
	Bounds *bounds.Rule
	// LongConfigMapName selects the longer name for the generated configuration, because the usual one is used by other
	// content.
	LongConfigMapName bool
}

// Base is a base configuration.
type Base struct {
	// Data is the content as it was read.
	Data []byte
	// Source is the place from which it was read.
	Source v1alpha2.ConfigSource
}

// Override is the ConfigMap of spec.overrideConfig.
type Override struct {
	// Namespace is the namespace of the ConfigMap, if it differs from the stack's. Pods cannot mount a ConfigMap from
	// there. Empty means the stack's.
	Namespace string
	// ConfigMapName and Key identify the source of Data.
	ConfigMapName, Key string
	// Data is the user's configuration.
	Data []byte
	// Files are all keys of the ConfigMap, for a stack of v1alpha1, which mounts all of them.
	Files map[string][]byte
	// Warnings are set when the ConfigMap replaces another one.
	Warnings []stackconfig.Finding
}

// Plan is the desired state of a stack.
type Plan struct {
	// Mode is the source of the configuration.
	Mode Mode
	// ConfigSource is the same for the status.
	ConfigSource v1alpha2.ConfigSource
	// Objects are the objects to apply, in order, without the Secret with derived values: see WithStorageSecret.
	Objects []render.Object
	// Rendered is the Deployment of Objects with its record, for rollout.Decide.
	Rendered rollout.Rendered
	// Config is the generated configuration. Nil means that none was generated.
	Config []byte
	// ServesTLS reports whether the server serves HTTPS only.
	ServesTLS bool
	// ConfigHash is the SHA-256 of the mounted configuration, in hex. Empty means that nothing is mounted.
	ConfigHash string
	// ConfigMapName is the mounted ConfigMap, and BaseConfigMapName the ConfigMap with the base. Empty means that there
	// is none.
	ConfigMapName, BaseConfigMapName string
	// Exposure is the kind of object that exposes the stack outside the cluster. ExposureServed reports whether the
	// cluster serves that kind. Hostname is the requested host name. Empty means that the stack is not exposed, or has
	// a host name from the cluster.
	Exposure       schema.GroupVersionKind
	ExposureServed bool
	Hostname       string
	// Env are the variables that the configuration reads, sorted by name.
	Env []stackconfig.EnvVar
	// Derived are the entries of the Secret with derived values.
	Derived []secretvalue.Derived
	// Models are the user's models under the names that clients use.
	Models []stackconfig.PublicModel
	// Places are the places of the stack's data. Losses are the parts of Input.Before that are not among them.
	Places *retention.Places
	Losses []retention.Loss
	// Warnings are for the user.
	Warnings []stackconfig.Finding
	// ProviderCount and ResourceCount are the numbers in the generated configuration, and ConfigVersion is its schema
	// version.
	ProviderCount, ResourceCount int32
	ConfigVersion                string
	// Report explains the generated configuration. Nil means that none was generated.
	Report *stackconfig.Report

	input  render.Input
	stores stores
	// dropped are the keys of the providers of the base that spec.distribution.baseProviders removed.
	dropped map[[2]string]bool
	// hidden is a configuration that is not mounted, because the user mounts a volume in its place. It is still an
	// input: earlier operators mounted it beneath the volume, and their pods must not be replaced.
	hidden *render.Config
}

// WithStorageSecret returns the objects to apply, including the Secret with derived values in its place in the order.
// The keys of the values are those of Derived.
func (p *Plan) WithStorageSecret(values map[string][]byte) []render.Object {
	if len(p.Derived) == 0 {
		return p.Objects
	}
	return render.InsertSecret(p.Objects, render.StorageSecret(p.input, values))
}

// Release returns the server release line of the plan. It returns an empty string when the release is unknown.
func (p *Plan) Release() string { return p.input.Server.Release }
