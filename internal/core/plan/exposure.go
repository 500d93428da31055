package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// exposureWarnings adds warnings about unexpected effects of an exposure.
func (p *Plan) exposureWarnings() {
	const path = "spec.networking.expose"
	if render.AllowedFromIgnored(p.input) {
		p.warn("spec.networking.allowedFrom", "the stack has no NetworkPolicy, so every pod that can reach the Service can connect: ask an administrator to set "+
			"enableNetworkPolicy under featureFlags in the operator's ConfigMap, or create a NetworkPolicy")
	}
	if p.Exposure.Empty() {
		return
	}
	if render.HasDefaultDomain(p.input) {
		p.warn(path, "the server gets the generated host name %q, which has no DNS record: set hostname, or ask an administrator to set "+
			"domain under ingress in the operator's ConfigMap", p.Hostname)
	}
	class, annotated, verifies := render.IngressTLS(p.input)
	stack, namespace := p.input.Stack.Name, p.input.Stack.Namespace
	switch ingress := p.Exposure.Kind == "Ingress"; {
	case !p.ServesTLS:
	case ingress && !annotated:
		p.warn(path, "the server uses HTTPS, and the operator does not set an annotation that makes the controller of ingress class %q connect to the server over HTTPS: "+
			"find this annotation in the controller's documentation, and set it in spec.networking.expose.annotations", class)
	case ingress && verifies:
		p.warn(path, "the server uses HTTPS, and Traefik verifies the server's certificate: create a traefik.io/v1alpha1 ServersTransport in namespace %q; "+
			"set its serverName to a name in the certificate, and add to its rootCAs a Secret that contains the CA certificate under %s; then run "+
			"kubectl annotate service %s --namespace %s traefik.ingress.kubernetes.io/service.serverstransport=%s-NAME@kubernetescrd, where NAME is the name of the ServersTransport",
			namespace, names.TLSAuthority, names.Service(stack), namespace, namespace)
	}
	switch root := p.root(); {
	case !render.PlainOutside(p.input):
	case root == nil:
		p.warn(path, "the server is exposed over plain HTTP, and probably without authentication, because its configuration in image %q is unknown: set spec.networking.expose.tlsSecretName, and check that the configuration sets server.auth", p.input.Image)
	case yamlnode.At(root, "server", "auth") == nil:
		p.warn(path, "the server is exposed over plain HTTP without authentication: set spec.networking.expose.tlsSecretName, and set server.auth in spec.settings or in your own configuration")
	}
}
