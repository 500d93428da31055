package cli

import (
	"cmp"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
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

// serving is the certificate of a stack's server. Nil: the spec names none, or its Secret is in none of the files.
func (m *manifests) serving(object *v1alpha2.LlamaStackDistribution) *cabundle.Serving {
	key := objectKey{object.Namespace, render.TLSSecret(&object.Spec)}
	secret, ok := m.secrets[key]
	if !ok || m.secretsTwice[key] {
		return nil
	}
	values := content(secret.Data, secret.StringData)
	return cabundle.NewServing(values[names.TLSCertificate], values[names.TLSAuthority])
}

// unreadCertificate notes what a cluster makes of a certificate that is not here.
func (o *outcome) unreadCertificate(object *v1alpha2.LlamaStackDistribution, built *plan.Plan) {
	if secret := render.TLSSecret(&object.Spec); secret != "" && built.ServesTLS && built.Exposure == render.HTTPRouteKind {
		o.notes = append(o.notes, fmt.Sprintf(
			"the certificate in Secret %q is not read here; of it and of its key %s a cluster makes BackendTLSPolicy %q and ConfigMap %q",
			secret, names.TLSAuthority, names.BackendTLSPolicy(object.Name), names.ServerCA(object.Name)))
	}
}
