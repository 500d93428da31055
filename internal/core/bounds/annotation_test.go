package bounds_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
)

// An annotation of the exposed stack does not pass the bounds on classes and domains.
func TestAnnotations(t *testing.T) {
	classes := bounds.Rule{IngressClasses: []string{"internal"}}
	domains := bounds.Rule{Domains: []string{"a.example.com"}}
	for _, tc := range []struct {
		rule       bounds.Rule
		key, value string
		allowed    bool
	}{
		{classes, "kubernetes.io/ingress.class", "public", false},
		{classes, "kubernetes.io/ingress.class", "internal", true},
		{classes, "other/b", "x", true},
		{
			bounds.Rule{IngressClasses: []string{"internal"}, IngressAnnotations: []string{}},
			"kubernetes.io/ingress.class", "internal", false,
		},
		{domains, "nginx.ingress.kubernetes.io/server-alias", "other.example.com", false},
		{domains, "nginx.ingress.kubernetes.io/server-snippet", "server_name other.example.com;", false},
		{domains, "nginx.ingress.kubernetes.io/auth-snippet", "more_set_headers x;", false},
		{domains, "nginx.ingress.kubernetes.io/modsecurity-snippet", "Include /x", false},
		{domains, "appgw.ingress.kubernetes.io/hostname-extension", "other.example.com", false},
		{domains, "zalando.org/skipper-routes", `Host("other.example.com") -> <shunt>`, false},
		{domains, "dns.alpha.kubernetes.io/external", "other.example.com", false},
		{domains, "ingress.kubernetes.io/config-backend", "acl", false},
		{domains, "traefik.frontend.rule", "Host:other.example.com", false},
		{domains, "nginx.org/server-snippets", "server_name other.example.com;", false},
		{domains, "external-dns.alpha.kubernetes.io/hostname", "other.example.com", false},
		{domains, "traefik.ingress.kubernetes.io/router.rule", "Host(`other.example.com`)", false},
		{domains, "alb.ingress.kubernetes.io/conditions.chat", "[]", false},
		{domains, "haproxy-ingress.github.io/server-alias-regex", ".*", false},
		{domains, "konghq.com/host-aliases", "other.example.com", false},
		{domains, "getambassador.io/config", "hostname: other.example.com", false},
		{domains, "new-controller.example.com/aliases", "other.example.com", false},
		{domains, "nginx.ingress.kubernetes.io/proxy-body-size", "1g", true},
		{domains, "nginx.ingress.kubernetes.io/proxy-read-timeout", "600", true},
		{domains, "kubernetes.io/ingress.class", "internal", true},
		{
			bounds.Rule{Domains: []string{"a.example.com"}, IngressAnnotations: []string{"*/server-alias"}},
			"nginx.ingress.kubernetes.io/server-alias", "other.example.com", true,
		},
	} {
		var want []string
		if !tc.allowed {
			want = []string{"spec.networking.expose.annotations[" + tc.key + "]"}
		}
		expose := &v1alpha2.ExposeSpec{Annotations: map[string]string{tc.key: tc.value}}
		compare(t, want, tc.rule.Spec(&v1alpha2.LlamaStackDistributionSpec{}, expose))
	}
}
