package dryrun

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// trust returns the certificate authorities that the server of a stack trusts.
func trust(object *v1alpha2.LlamaStackDistribution, contents map[string]map[string][]byte) (plan.Trust, error) {
	trust, unusable := plan.ReadTrust(object, contents)
	if len(unusable) > 0 {
		first := unusable[0]
		return trust, fmt.Errorf("%s: key %q of ConfigMap %q: %s", first.Use.Path, first.Key, first.Use.Name, first.Problem)
	}
	return trust, nil
}

// Contents returns the contents of the ConfigMaps that a stack refers to, keyed by intent.ConfigMapUse.ID and then by
// key. It omits ConfigMaps that the stack cannot read. The error is about the first missing ConfigMap or key. Missing
// certificates do not cause an error if they are not in the files, or if the user cannot read them, because only the
// content of the CA bundle depends on them, unless they are only in another namespace.
func (m *Manifests) Contents(
	object *v1alpha2.LlamaStackDistribution,
) (contents map[string]map[string][]byte, problem error) {
	contents = make(map[string]map[string][]byte)
	for _, asked := range m.running.ConfigMaps(object) {
		use, files := m.find(asked, object.Namespace)
		key := KeyOf(asked, object.Namespace)
		unread := asked.Purpose == intent.PurposeCABundle && (!m.Live || m.Denied[key]) &&
			(asked.Namespace != "" || elsewhere(m, m.ConfigMaps, key) == "")
		switch {
		case files != nil:
			contents[use.ID()] = files
			problem = cmp.Or(problem, missingKey(use, files))
		case !asked.Optional && !unread:
			problem = cmp.Or(problem, m.unusable(asked, object.Namespace))
		}
	}
	return contents, problem
}

// find returns the data of the ConfigMap that a stack in a namespace uses for a reference, and the reference to this
// ConfigMap. It returns nil if there is none.
func (m *Manifests) find(asked intent.ConfigMapUse, namespace string) (intent.ConfigMapUse, map[string][]byte) {
	for _, use := range facts.Candidates(asked) {
		configMap, ok := m.ConfigMaps[KeyOf(use, namespace)]
		if ok && facts.MayRead(use, configMap.Annotations, namespace) {
			return use, plan.Files(configMap.BinaryData, configMap.Data)
		}
	}
	return asked, nil
}

// missingKey returns the error for a ConfigMap without a key that a stack needs, or nil.
func missingKey(use intent.ConfigMapUse, files map[string][]byte) error {
	missing := func(key string) bool { return files[key] == nil }
	keys := use.Keys
	if !slices.ContainsFunc(use.AnyOf, func(key string) bool { return !missing(key) }) {
		keys = slices.Concat(keys, use.AnyOf)
	}
	i := slices.IndexFunc(keys, missing)
	if i < 0 {
		return nil
	}
	path := strings.TrimSuffix(use.Path, "configMapName") + "key"
	if use.Purpose == intent.PurposeCABundle {
		path = strings.TrimSuffix(use.Path, "Name") + "Keys"
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: ConfigMap %q has no keys; add the key %q", path, use.Name, keys[i])
	}
	return fmt.Errorf("%s: ConfigMap %q has no key %q; add the key to the ConfigMap, or use one of its keys: %s", path,
		use.Name, keys[i], intent.Listed(slices.Sorted(maps.Keys(files))))
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
