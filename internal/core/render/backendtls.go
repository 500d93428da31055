package render

import (
	"cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render/ingresscontroller"
)

// ingressClass returns the class of the stack's Ingress. An empty string means that the Ingress has the cluster's
// default class, or that the stack is not exposed.
func ingressClass(in Input) string {
	if in.Expose == nil {
		return ""
	}
	return cmp.Or(in.Expose.IngressClassName, in.Cluster.Ingress.ClassName)
}

// backendTLS returns the annotations on the Ingress and on the Service that make the Ingress controller connect to the
// server over HTTPS.
func backendTLS(in Input) (ingress, service map[string]string) {
	if !PodsServeTLS(in) || of(in).PlainIngress || !exposedBy(in, ingressKind) {
		return nil, nil
	}
	return ingresscontroller.BackendTLS(ingressClass(in), names.Service(in.Stack.Name))
}

// IngressTLS returns the class of the stack's Ingress, and reports whether an annotation makes the controller of this
// class connect to the server over HTTPS, and whether the controller then verifies the certificate of the server.
func IngressTLS(in Input) (class string, annotated, verifies bool) {
	class = ingressClass(in)
	return class, ingresscontroller.SupportsBackendTLS(class), ingresscontroller.VerifiesBackendTLS(class)
}

// ingressTLSSecret returns the Secret with the certificate of an Ingress: the Secret that the spec names for the
// Ingress. If the spec names no Secret for the Ingress but sets a host name, the function returns the Secret with the
// server's certificate, provided that the server serves HTTPS. A v1alpha1 stack uses only the Secret that the spec
// names. An empty string means that the Ingress serves plain HTTP.
func ingressTLSSecret(in Input) string {
	if secret := in.Expose.TLSSecretName; secret != "" || of(in).PlainIngress {
		return secret
	}
	if !in.Server.ServesTLS || in.Expose.Hostname == "" {
		return ""
	}
	return TLSSecret(&in.Stack.Spec)
}

// PlainOutside reports whether clients outside the cluster reach the stack over plain HTTP.
func PlainOutside(in Input) bool { return exposedBy(in, ingressKind) && ingressTLSSecret(in) == "" }
