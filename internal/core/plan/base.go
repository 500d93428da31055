package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
)

// CheckedBase is the result of checking the configuration of an image.
type CheckedBase struct {
	// Version is the schema version of the configuration.
	Version string
	// Warnings are the warnings for stacks that use the configuration as their base.
	Warnings []stackconfig.Finding
}

// CheckBase checks the configuration of an image against the release of the server in the image, as Build does for a
// stack that sets only the image, and whose container has further environment variables with unknown names. Every error
// is a *ConfigError.
func CheckBase(data []byte, of *distribution.Resolved) (CheckedBase, error) {
	base, err := baseconfig.ParseUncached(data)
	if err != nil {
		return CheckedBase{}, badBase(err)
	}
	checked := CheckedBase{Version: base.Version()}
	object := &v1alpha2.LlamaStackDistribution{}
	object.Name = "stack" // a configuration without a name gets the name of its stack
	object.Spec.Distribution.Image = of.Image
	wishes, errs := intent.FromObject(object)
	if len(errs) > 0 {
		return checked, invalidSpec(errs)
	}
	wishes.MoreVariables = true
	result, report := stackconfig.Generate(stackconfig.Input{
		Intent: wishes, Base: base, Release: of.Release, ReleaseUnknown: of.DetectedBy == distribution.Unknown,
		Published: of.FromCatalog(),
	})
	p := &Plan{}
	p.releaseWarnings(of)
	checked.Warnings = append(append(p.Warnings, report.Warnings...), stackconfig.ClearText(base, of.Release)...)
	if result == nil {
		return checked, refused(Input{Distribution: *of}, report)
	}
	return checked, nil
}

// BaseSources are the places from which a stack can get its base configuration.
type BaseSources struct {
	Object  *v1alpha2.LlamaStackDistribution
	Running *facts.Running
	Image   facts.Image
	// ConfigMaps contains the contents of ConfigMaps, by intent.ConfigMapUse.ID and key.
	ConfigMaps map[string]map[string][]byte
	// Label is the configuration in the labels of the image. Nil means that there is none, or that it was not read. Digest
	// is the digest of the image in the pods to create, or empty.
	Label  []byte
	Digest string
	// Kept returns the base in the ConfigMap that the record names, or nil if it does not exist.
	Kept func(name string) ([]byte, error)
}

// Base returns the base configuration from the first of these sources that has one: the ConfigMap in the spec, the
// labels of the image, the base of the running configuration, or the catalog. It returns nil if the stack needs no
// base, or if no source has one.
func (s BaseSources) Base() (*Base, error) {
	if !NeedsBase(&s.Object.Spec) {
		return nil, nil
	}
	if given := ReadBase(s.Object, s.ConfigMaps); given != nil {
		return given, nil
	}
	if s.Label != nil {
		return &Base{Data: s.Label, Source: v1alpha2.ConfigSourceOCILabel}, nil
	}
	catalog, record := s.Image.Distribution.Base, &s.Running.Record
	source, keeps := s.Running.KeepsBase(s.Object.Spec.Distribution, &s.Image, s.Digest)
	if keeps && (catalog == nil || record.Base != BaseHash(catalog)) {
		if kept, err := s.Kept(record.BaseConfigMap); kept != nil || err != nil {
			return &Base{Data: kept, Source: source}, err
		}
	}
	if catalog == nil {
		return nil, nil
	}
	return &Base{Data: catalog, Source: v1alpha2.ConfigSourceEmbedded}, nil
}
