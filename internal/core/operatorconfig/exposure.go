package operatorconfig

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Ingress holds the settings for stacks with spec.networking.expose.
type Ingress struct {
	// Domain is the domain of generated host names. Empty means names.DefaultDomain, except for Routes, which get a name
	// from OpenShift.
	Domain string
	// ClassName is the class of Ingresses. Empty means the cluster's default.
	ClassName string
	// Annotations are added to every Ingress.
	Annotations map[string]string
	// ControllerNamespaces are the namespaces from which the NetworkPolicies of exposed stacks allow connections.
	ControllerNamespaces []string
}

// Gateway is the Gateway that exposed stacks are attached to.
type Gateway struct {
	Name, Namespace string
	// SectionName is the Gateway's listener. Empty means every listener that accepts the route.
	SectionName string
}

const ingressHelp = `# How clients reach stacks with spec.networking.expose.
# The domain of generated host names, <name>-<namespace>-<hash>.<domain> (default: llama-stack.internal, or
# the host name that OpenShift assigns to a Route).
# domain: apps.example.com
# The class of Ingresses (default: the cluster's default class).
# className: nginx
# Annotations of every Ingress.
# annotations: {cert-manager.io/cluster-issuer: letsencrypt}
# Namespaces of the ingress controller, which the NetworkPolicies of exposed stacks allow.
# controllerNamespaces: [ingress-nginx]
`

const gatewayHelp = `# The Gateway (Gateway API) for stacks with spec.networking.expose. If it is set,
# the operator creates an HTTPRoute for this Gateway instead of an Ingress or Route.
# name: public
# namespace: gateways
# Its listener (default: every listener that accepts the route).
# sectionName: https
`

func readIngress(r *reader, root node, ingress *Ingress) {
	r.fields(root, map[string]func(node){
		"domain":      func(n node) { ingress.Domain = r.checked(n, validation.IsDNS1123Subdomain) },
		"className":   func(n node) { ingress.ClassName = r.checked(n, validation.IsDNS1123Subdomain) },
		"annotations": func(n node) { ingress.Annotations = r.annotations(n) },
		"controllerNamespaces": func(n node) {
			ingress.ControllerNamespaces = r.texts(n, func(n node, text string) {
				r.check(n, text, validation.IsDNS1123Label)
			})
		},
	})
}

func readGateway(r *reader, root node, into **Gateway) {
	gateway, before := &Gateway{}, len(r.errs)
	r.fields(root, map[string]func(node){
		"name":        func(n node) { gateway.Name = r.checked(n, validation.IsDNS1123Subdomain) },
		"namespace":   func(n node) { gateway.Namespace = r.checked(n, validation.IsDNS1123Label) },
		"sectionName": func(n node) { gateway.SectionName = r.checked(n, validation.IsDNS1123Subdomain) },
	})
	if len(r.errs) == before && (gateway.Name == "" || gateway.Namespace == "") {
		r.fail(root.path, "", "the name or the namespace of the Gateway is missing; set both")
	}
	*into = gateway
}

func (r *reader) annotations(n node) map[string]string {
	found := map[string]string{}
	for _, e := range r.entries(n, (*field.Path).Key) {
		r.check(e.value, e.key, validation.IsQualifiedName)
		if text, ok := r.text(e.value); ok {
			found[e.key] = text
		}
	}
	return found
}

// checked reads a string and validates its format.
func (r *reader) checked(n node, check func(string) []string) string {
	text, ok := r.text(n)
	if ok {
		r.check(n, text, check)
	}
	return text
}

func (r *reader) check(n node, text string, check func(string) []string) {
	if problems := check(text); len(problems) > 0 {
		r.fail(n.path, text, fmt.Sprintf("%q cannot be used: %s", text, problems[0]))
	}
}
