package bounds

import "slices"

// classAnnotation selects the class of an Ingress without ingressClassName.
const classAnnotation = "kubernetes.io/ingress.class"

// harmless lists patterns of annotations that add no host names and no text to the configuration of a controller. A
// rule with domains and without ingressAnnotations allows only these, because an annotation of an unknown controller
// could add a host name.
var harmless = []string{
	classAnnotation, "cert-manager.io/issuer", "cert-manager.io/cluster-issuer", "cert-manager.io/duration",
	"cert-manager.io/renew-before", "nginx.ingress.kubernetes.io/proxy-body-size",
	"nginx.ingress.kubernetes.io/proxy-*-timeout", "nginx.ingress.kubernetes.io/proxy-buffer*",
	"nginx.ingress.kubernetes.io/proxy-request-buffering", "nginx.ingress.kubernetes.io/proxy-http-version",
	"nginx.ingress.kubernetes.io/*ssl-redirect", "nginx.ingress.kubernetes.io/limit-*",
	"nginx.ingress.kubernetes.io/whitelist-source-range", "nginx.ingress.kubernetes.io/enable-cors",
	"haproxy.router.openshift.io/timeout*", "haproxy.router.openshift.io/rate-limit-connections*",
	"haproxy.router.openshift.io/ip_whitelist", "haproxy.router.openshift.io/balance",
}

// allowsAnnotation reports whether the annotations of an exposed stack may contain a key with a value.
func (r *Rule) allowsAnnotation(key, value string) bool {
	if key == classAnnotation && r.IngressClasses != nil && !slices.Contains(r.IngressClasses, value) {
		return false
	}
	if r.IngressAnnotations != nil {
		return matches(r.IngressAnnotations, key)
	}
	return r.Domains == nil || matches(harmless, key)
}
