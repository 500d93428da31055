package render

import (
	"cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render/ingresscontroller"
)

// IngressClass is the class of the stack's Ingress. Empty: the cluster's default.
func IngressClass(in Input) string {
	if in.Expose == nil {
		return ""
	}
	return cmp.Or(in.Expose.IngressClassName, in.Cluster.Ingress.ClassName)
}

// backendTLS are the annotations on Ingress and Service that have the Ingress speak HTTPS to the server.
func backendTLS(in Input) (ingress, service map[string]string) {
	if !in.Server.ServesTLS || compat(in) || !exposedBy(in, ingressKind) {
		return nil, nil
	}
	return ingresscontroller.BackendTLS(IngressClass(in), names.Service(in.Stack.Name))
}

// ingressTLSSecret is the Secret with the certificate that an Ingress shows: the one that the spec names for it, else that
// of the server where there is a host name for it. Empty: it serves plain HTTP.
func ingressTLSSecret(in Input) string {
	if secret := in.Expose.TLSSecretName; secret != "" || compat(in) {
		return secret
	}
	if !in.Server.ServesTLS || in.Expose.Hostname == "" {
		return ""
	}
	return TLSSecret(&in.Stack.Spec)
}

// PlainOutside reports whether clients outside of the cluster reach the stack by plain HTTP.
func PlainOutside(in Input) bool { return exposedBy(in, ingressKind) && ingressTLSSecret(in) == "" }
