package bounds

import "slices"

// classAnnotation selects the class of an Ingress without ingressClassName.
const classAnnotation = "kubernetes.io/ingress.class"

// naming lists patterns of annotations that add host names to an Ingress or a DNS zone, or text to the configuration of
// the controller. A rule with domains and without ingressAnnotations forbids them, because Domains would not hold.
var naming = []string{
	"*/server-alias", "*/server-aliases", "*/*-snippet", "*/*-snippets", "*/from-to-www-redirect",
	"external-dns.alpha.kubernetes.io/*", "dns.alpha.kubernetes.io/*", "haproxy.org/*", "ingress.kubernetes.io/config-*",
	"appgw.ingress.kubernetes.io/hostname-extension", "zalando.org/skipper-*", "traefik.frontend.*",
	"alb.ingress.kubernetes.io/actions.*", "alb.ingress.kubernetes.io/conditions.*", "alb.ingress.kubernetes.io/group.*",
	"traefik.ingress.kubernetes.io/router.rule*", "haproxy-ingress.github.io/*", "konghq.com/*", "getambassador.io/*",
}

// allowsAnnotation reports whether the annotations of an exposed stack may contain a key with a value.
func (r *Rule) allowsAnnotation(key, value string) bool {
	if key == classAnnotation && r.IngressClasses != nil && !slices.Contains(r.IngressClasses, value) {
		return false
	}
	if r.IngressAnnotations != nil {
		return matches(r.IngressAnnotations, key)
	}
	return r.Domains == nil || !matches(naming, key)
}
