package cli

import (
	"cmp"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
)

// certificates are those that a stack shall trust, in DER form; nil: it names
// none. A ConfigMap that is in none of the files is no mistake, as a Secret is
// not: nothing but the bundle depends on it, which then has the roots only.
func (m *manifests) certificates(object *v1alpha2.LlamaStackDistribution) ([][]byte, error) {
	var certificates [][]byte
	for _, use := range intent.ConfigMaps(object) {
		if use.Purpose != intent.PurposeCABundle {
			continue
		}
		certificates = [][]byte{}
		namespace := cmp.Or(use.Namespace, object.Namespace)
		configMap, ok := m.configMaps[objectKey{namespace, use.Name}]
		if !ok {
			return certificates, nil
		}
		files := configMapFiles(configMap)
		found, problems := cabundle.Keys(use.Keys, files)
		for _, key := range use.Keys {
			if wrong := problems[key]; len(wrong) > 0 {
				return nil, fmt.Errorf("%s: key %q of ConfigMap %q: %s", use.Path, key, use.Name, wrong[0])
			}
		}
		certificates = append(certificates, found...)
	}
	return certificates, nil
}
