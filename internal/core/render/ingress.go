package render

import (
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ingress returns the Ingress that exposes the stack, or nil if no Ingress exposes the stack.
func ingress(in Input) (*networkingv1ac.IngressApplyConfiguration, error) {
	if !exposedBy(in, ingressKind) {
		return nil, nil
	}
	backend := networkingv1ac.IngressBackend().WithService(networkingv1ac.IngressServiceBackend().
		WithName(names.Service(in.Stack.Name)).
		WithPort(networkingv1ac.ServiceBackendPort().WithNumber(Port(&in.Stack.Spec))))
	rule := networkingv1ac.IngressRule().WithHTTP(networkingv1ac.HTTPIngressRuleValue().
		WithPaths(networkingv1ac.HTTPIngressPath().
			WithPath("/").WithPathType(networkingv1.PathTypePrefix).WithBackend(backend)))
	host := Hostname(in)
	if host != "" {
		rule.WithHost(host)
	}
	spec := networkingv1ac.IngressSpec().WithRules(rule)
	if class := ingressClass(in); class != "" {
		spec.WithIngressClassName(class)
	}
	if secret := ingressTLSSecret(in); secret != "" {
		spec.WithTLS(ingressTLS(secret, host))
	}
	annotations, _ := backendTLS(in)
	return owned(in, networkingv1ac.Ingress, names.Ingress(in.Stack.Name)).
		WithAnnotations(merged(annotations, in.Cluster.Ingress.Annotations, in.Expose.Annotations)).
		WithSpec(spec), nil
}

// ingressTLS returns the certificate of an Ingress for a host name, which can be empty.
func ingressTLS(secret, host string) *networkingv1ac.IngressTLSApplyConfiguration {
	tls := networkingv1ac.IngressTLS().WithSecretName(secret)
	if host != "" {
		tls.WithHosts(host)
	}
	return tls
}
