package ingresscontroller

import (
	"maps"
	"strings"
)

// controller is an ingress controller, with the annotations that make it connect to a backend over HTTPS.
type controller struct {
	// class is a part of the names of the controller's Ingress classes. These are the names in the controller's manifests.
	class string
	// ingress and service are annotations on the Ingress and on the Service. The value NAME is a placeholder for the name
	// of the Service.
	ingress, service map[string]string
}

// controllers lists the ingress controllers that can be configured with annotations. With these annotations, only
// Traefik verifies the server's certificate, and the user has to configure the verification with a ServersTransport.
var controllers = []controller{
	{class: "nginx", ingress: map[string]string{
		"nginx.ingress.kubernetes.io/backend-protocol": "HTTPS", // Ingress-NGINX of the Kubernetes project
		"nginx.org/ssl-services":                       "NAME",  // NGINX Ingress Controller of F5
	}},
	{class: "haproxy", ingress: map[string]string{
		"haproxy.org/server-ssl":                     "true",   // HAProxy Technologies
		"haproxy-ingress.github.io/backend-protocol": "h1-ssl", // the community's HAProxy Ingress
	}},
	{class: "alb", ingress: map[string]string{"alb.ingress.kubernetes.io/backend-protocol": "HTTPS"}},
	{class: "traefik", service: map[string]string{"traefik.ingress.kubernetes.io/service.serversscheme": "https"}},
}

// of returns the possible controllers of a class: all of them for the cluster's default class, whose name is unknown.
// An annotation for a different controller has no effect.
func of(class string) []controller {
	if class == "" {
		return controllers
	}
	var found []controller
	for _, one := range controllers {
		if strings.Contains(strings.ToLower(class), one.class) {
			found = append(found, one)
		}
	}
	return found
}

// SupportsBackendTLS reports whether annotations can make an Ingress of the class connect to the server over HTTPS.
func SupportsBackendTLS(class string) bool { return len(of(class)) > 0 }

// VerifiesBackendTLS reports whether the controller of the class verifies the certificate of the server, and needs
// configuration for the verification.
func VerifiesBackendTLS(class string) bool {
	return strings.Contains(strings.ToLower(class), "traefik")
}

// BackendTLS returns the annotations on the Ingress and on the Service that make an Ingress of the class connect to the
// Service with the given name over HTTPS. An empty class is the cluster's default.
func BackendTLS(class, serviceName string) (ingress, service map[string]string) {
	ingress, service = map[string]string{}, map[string]string{}
	for _, one := range of(class) {
		maps.Copy(ingress, one.ingress)
		maps.Copy(service, one.service)
	}
	for name, value := range ingress {
		if value == "NAME" {
			ingress[name] = serviceName
		}
	}
	return ingress, service
}
