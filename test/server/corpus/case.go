package corpus

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Case is one user's object, together with the base from which its configuration is generated.
type Case struct {
	// Name identifies the case within its line, for example provider/inference/remote::vllm/full.
	Name string
	// Release is the line of the case.
	Release *release.Release
	// Object is the user's object. The pipeline must not change it.
	Object *v1alpha2.LlamaStackDistribution
	// Base is the configuration of the distribution.
	Base []byte
	// Embedded means that Base is the configuration that the release contains for the object's distribution. Otherwise,
	// Base is from the user's own ConfigMap.
	Embedded bool
}

// These are the names that the cases use.
const (
	stackName  = "demo"
	namespace  = "default"
	starter    = "starter"
	baseConfig = "base"
)

// fields is a spec, or a part of one, in its JSON form.
type fields map[string]any

// maker creates the cases of one line.
type maker struct {
	rel   *release.Release
	cases []Case
}

// add adds a case from a spec and the line's starter.
func (m *maker) add(name string, spec fields) {
	m.addOver(starter, name, spec)
}

// addOver adds a case from a spec and a distribution of the line.
func (m *maker) addOver(distribution, name string, spec fields) {
	m.append(name, distribution, shipped(m.rel, distribution), true, spec)
}

// addOwn adds a case from a user's own configuration.
func (m *maker) addOwn(name, base string, spec fields) {
	spec["baseConfig"] = fields{"configMapName": baseConfig, "key": "config.yaml"}
	m.append(name, starter, []byte(base), false, spec)
}

func (m *maker) append(name, distribution string, base []byte, embedded bool, spec fields) {
	m.cases = append(m.cases, newCase(m.rel, name, distribution, base, embedded, spec))
}

// newCase returns a case whose object has this spec.
func newCase(rel *release.Release, name, distribution string, base []byte, embedded bool, spec fields) Case {
	of := fields{"name": distribution, "version": rel.Version}
	if given, ok := spec["distribution"].(fields); ok {
		maps.Copy(of, given)
	}
	spec["distribution"] = of
	object := &v1alpha2.LlamaStackDistribution{}
	object.Name, object.Namespace = stackName, namespace
	data, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(data, &object.Spec)
	}
	if err != nil {
		panic(fmt.Sprintf("corpus: case %q of %s: %v", name, rel.Line, err)) // an error is a bug in this package
	}
	return Case{Name: name, Release: rel, Object: object, Base: base, Embedded: embedded}
}

// shipped returns the configuration that a release contains for a distribution.
func shipped(rel *release.Release, name string) []byte {
	d, ok := rel.Distribution(name)
	if !ok {
		panic(fmt.Sprintf("corpus: release %s does not contain the distribution %q", rel.Line, name)) // a test in package release checks the data
	}
	return []byte(d.YAML)
}

// resolved returns the result that distribution.Resolve would return for the case if its line were offered.
func (c *Case) resolved() distribution.Resolved {
	name, version := c.Object.Spec.Distribution.Name, c.Release.Version
	// Some distributions are published for a few releases of a line only.
	last, err := distribution.Resolve(name, "", c.Release.Line, nil)
	if err == nil && !slices.Contains(distribution.Versions(name), version) {
		version = last.Version
	}
	return distribution.Resolved{
		Name: name, Version: version, Image: "docker.io/ogxai/distribution-" + name + ":" + version,
		Release: c.Release, Exact: true, DetectedBy: distribution.ByVersion, Base: c.Base,
	}
}

// ref returns a reference to a value in a Secret.
func ref(name, key string) fields {
	return fields{"secretKeyRef": fields{"name": name, "key": key}}
}
