package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render/ingresscontroller"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// exposureWarnings adds warnings about effects of an exposure that users may not expect.
func (p *Plan) exposureWarnings() {
	const path = "spec.networking.expose"
	if p.Exposure.Empty() {
		return
	}
	if render.MadeUpForNobody(p.input) {
		p.warn(path, "the server gets the made-up host name %q, which no DNS knows: set hostname, or have the administrator set "+
			"domain under ingress in the operator's ConfigMap", p.Hostname)
	}
	class, stack, namespace := render.IngressClass(p.input), p.input.Stack.Name, p.input.Stack.Namespace
	switch ingress := p.Exposure.Kind == "Ingress"; {
	case !p.ServesTLS:
	case ingress && !ingresscontroller.KnowsBackendTLS(class):
		p.warn(path, "the server speaks HTTPS, and how the controller of ingress class %q is told that is not known: "+
			"set its annotation for that under annotations", class)
	case ingress && ingresscontroller.ChecksBackendTLS(class):
		p.warn(path, "the server speaks HTTPS, and Traefik checks its certificate: make a ServersTransport of traefik.io/v1alpha1 in namespace %q, "+
			"with a name in the certificate as serverName, and a Secret that has the authority's certificate under %s among rootCAs; then run "+
			"kubectl annotate service %s --namespace %s traefik.ingress.kubernetes.io/service.serverstransport=%s-NAME@kubernetescrd, with its name for NAME",
			namespace, names.TLSAuthority, names.Service(stack), namespace, namespace)
	}
	if root := p.root(); render.PlainOutside(p.input) && root != nil && yamlnode.At(root, "server", "auth") == nil {
		p.warn(path, "the server is exposed by plain HTTP and asks nobody who they are: set spec.networking.expose.tlsSecretName, and server.auth in spec.settings")
	}
}
