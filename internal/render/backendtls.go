package render

import (
	"cmp"
	"maps"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// ingressController is a program that serves Ingresses, and how it is told that a backend speaks HTTPS.
type ingressController struct {
	// class is what the names of its Ingress classes have in them, as its manifests make them.
	class string
	// ingress and service are annotations on the Ingress and on the Service. NAME stands for that of the Service.
	ingress, service map[string]string
}

// ingressControllers are those that are told by an annotation. None checks the server's certificate then, but Traefik,
// which needs a ServersTransport of the user's for that.
var ingressControllers = []ingressController{
	{class: "nginx", ingress: map[string]string{
		"nginx.ingress.kubernetes.io/backend-protocol": "HTTPS", // of the community
		"nginx.org/ssl-services":                       "NAME",  // of F5
	}},
	{class: "haproxy", ingress: map[string]string{
		"haproxy.org/server-ssl":                     "true",   // of HAProxy Technologies
		"haproxy-ingress.github.io/backend-protocol": "h1-ssl", // of the community
	}},
	{class: "alb", ingress: map[string]string{"alb.ingress.kubernetes.io/backend-protocol": "HTTPS"}},
	{class: "traefik", service: map[string]string{"traefik.ingress.kubernetes.io/service.serversscheme": "https"}},
}

// IngressClass is the class of the stack's Ingress. Empty: the cluster's default.
func IngressClass(in Input) string {
	if in.Expose == nil {
		return ""
	}
	return cmp.Or(in.Expose.IngressClassName, in.Cluster.Ingress.ClassName)
}

// controllersOf are the controllers that a class may be of: all of them for the cluster's default class, whose name nobody
// tells. An annotation of another controller does no harm.
func controllersOf(class string) []ingressController {
	if class == "" {
		return ingressControllers
	}
	var found []ingressController
	for _, controller := range ingressControllers {
		if strings.Contains(strings.ToLower(class), controller.class) {
			found = append(found, controller)
		}
	}
	return found
}

// KnowsBackendTLS reports whether an Ingress of the class is told that the server speaks HTTPS.
func KnowsBackendTLS(class string) bool { return len(controllersOf(class)) > 0 }

// ChecksBackendTLS reports whether the class is one whose controller checks the certificate of the server, and has to be
// told how.
func ChecksBackendTLS(class string) bool { return strings.Contains(strings.ToLower(class), "traefik") }

// backendTLS are the annotations on Ingress and Service that have the Ingress speak HTTPS to the server.
func backendTLS(in Input) (ingress, service map[string]string) {
	if !in.Server.ServesTLS || compat(in) || !exposedBy(in, ingressKind) {
		return nil, nil
	}
	ingress, service = map[string]string{}, map[string]string{}
	for _, controller := range controllersOf(IngressClass(in)) {
		maps.Copy(ingress, controller.ingress)
		maps.Copy(service, controller.service)
	}
	for name, value := range ingress {
		if value == "NAME" {
			ingress[name] = names.Service(in.Stack.Name)
		}
	}
	return ingress, service
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
