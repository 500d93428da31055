package ingresscontroller

import (
	"maps"
	"strings"
)

// controller is a program that serves Ingresses, and how it is told that a backend speaks HTTPS.
type controller struct {
	// class is what the names of its Ingress classes have in them, as its manifests make them.
	class string
	// ingress and service are annotations on the Ingress and on the Service. NAME stands for that of the Service.
	ingress, service map[string]string
}

// controllers are those that are told by an annotation. None checks the server's certificate then, but Traefik, which needs
// a ServersTransport of the user's for that.
var controllers = []controller{
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

// of returns the controllers that a class may be of: all of them for the cluster's default class, whose name nobody tells.
// An annotation of another controller does no harm.
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

// KnowsBackendTLS reports whether an Ingress of the class is told that the server speaks HTTPS.
func KnowsBackendTLS(class string) bool { return len(of(class)) > 0 }

// ChecksBackendTLS reports whether the class is one whose controller checks the certificate of the server, and has to be
// told how.
func ChecksBackendTLS(class string) bool { return strings.Contains(strings.ToLower(class), "traefik") }

// BackendTLS returns the annotations on Ingress and Service that have an Ingress of the class speak HTTPS to the Service of
// that name. An empty class is the cluster's default.
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
