package corpus

import (
	"cmp"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// FromManifest returns the case for a manifest of a stack of v1alpha2, without its volume and the Heavy packages. It
// returns nil if the stack runs on a different release line.
func FromManifest(rel *release.Release, name string, manifest []byte) (*Case, error) {
	c := Case{Name: name, Release: rel, Object: &v1alpha2.LlamaStackDistribution{}, Embedded: true}
	if err := yaml.UnmarshalStrict(manifest, c.Object); err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	of := &c.Object.Spec.Distribution
	match, err := release.Lookup(cmp.Or(of.Version, release.Default().Version))
	if err != nil || match.Release.Line != rel.Line {
		return nil, err
	}
	// The release data has one distribution for each line.
	of.Version = rel.Version
	c.Object.Name, c.Object.Namespace = stackName, namespace
	if c.Object.Spec.Workload != nil {
		c.Object.Spec.Workload.Storage = nil // a test has a directory of its own, and no volume
	}
	c.Base = shipped(rel, of.Name)
	light, reason := c.Light()
	if reason != "" {
		return nil, fmt.Errorf("%s: %s", name, reason)
	}
	return &light, nil
}
