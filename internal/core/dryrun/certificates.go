package dryrun

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// trust returns the certificate authorities that the server of a stack trusts. A ConfigMap that is missing from the
// files, or that the user cannot read, does not cause an error, because only the content of the CA bundle depends on
// it, unless it is only in another namespace.
func (m *Manifests) trust(object *v1alpha2.LlamaStackDistribution) (plan.Trust, error) {
	contents := m.contents(object)
	for _, use := range intent.ConfigMaps(object) {
		if use.Purpose != intent.PurposeCABundle || contents[use.ID()] != nil || contents[use.Here().ID()] != nil {
			continue
		}
		key := Key{Namespace: cmp.Or(use.Namespace, object.Namespace), Name: use.Name}
		inOther := use.Namespace == "" && elsewhere(m, m.ConfigMaps, key) != ""
		if inOther || m.Live && !m.Denied[key] {
			return plan.Trust{}, m.unusable(use, object.Namespace)
		}
	}
	trust, unusable := plan.ReadTrust(object, contents)
	if len(unusable) > 0 {
		first := unusable[0]
		if values := contents[first.Use.ID()]; values[first.Key] == nil {
			return trust, noKey(strings.TrimSuffix(first.Use.Path, "Name")+"Keys", first.Use.Name, first.Key, values)
		}
		return trust, fmt.Errorf("%s: key %q of ConfigMap %q: %s", first.Use.Path, first.Key, first.Use.Name, first.Problem)
	}
	return trust, nil
}

// contents returns the contents of the ConfigMaps that a stack refers to, keyed by intent.ConfigMapUse.ID and then by
// key. It omits ConfigMaps that the files do not contain, and ConfigMaps that the stack cannot read.
func (m *Manifests) contents(object *v1alpha2.LlamaStackDistribution) map[string]map[string][]byte {
	contents := make(map[string]map[string][]byte)
	for _, use := range m.running.ConfigMaps(object) {
		for _, use := range facts.Candidates(use) {
			configMap, ok := m.ConfigMaps[Key{Namespace: cmp.Or(use.Namespace, object.Namespace), Name: use.Name}]
			if ok && facts.MayRead(use, configMap.Annotations, object.Namespace) {
				contents[use.ID()] = plan.ConfigMapFiles(configMap)
				break
			}
		}
	}
	return contents
}

// serving returns the certificate of a stack's server. It returns nil if the spec does not refer to a certificate, or
// if the files do not contain the Secret exactly once.
func (m *Manifests) serving(object *v1alpha2.LlamaStackDistribution) *cabundle.Serving {
	secret := m.secret(Key{Namespace: object.Namespace, Name: render.TLSSecret(&object.Spec)})
	if secret == nil {
		return nil
	}
	return cabundle.NewServing(secret.Data[names.TLSCertificate], secret.Data[names.TLSAuthority])
}
