package render

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1ac "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// BackendTLSPolicyKind is the Gateway API kind BackendTLSPolicy, which not every cluster serves.
var BackendTLSPolicyKind = schema.GroupVersionKind{
	Group: gatewayv1.GroupName, Version: gatewayv1.GroupVersion.Version, Kind: "BackendTLSPolicy",
}

// Backend holds the values with which a Gateway verifies the server.
type Backend struct {
	// Hostname is a name in the certificate of the server.
	Hostname string
	// Authorities are the authorities that signed the certificate, in PEM format. Nil means public authorities.
	Authorities []byte
}

// backendTLSPolicy returns the policy that makes Gateways connect to the server over HTTPS. It sets the defaults of the
// API server explicitly, as httpRoute does.
func backendTLSPolicy(in Input) (*gatewayv1ac.BackendTLSPolicyApplyConfiguration, error) {
	if !gatewaySpeaksTLS(in) {
		return nil, nil
	}
	validation := gatewayv1ac.BackendTLSPolicyValidation().WithHostname(gatewayv1.PreciseHostname(in.Backend.Hostname))
	if in.Backend.Authorities == nil {
		validation.WithWellKnownCACertificates(gatewayv1.WellKnownCACertificatesSystem)
	} else {
		validation.WithCACertificateRefs(gatewayv1ac.LocalObjectReference().
			WithGroup("").WithKind(gatewayv1.Kind(configMapKind.Kind)).
			WithName(gatewayv1.ObjectName(names.ServerCA(in.Stack.Name))))
	}
	target := gatewayv1ac.LocalPolicyTargetReferenceWithSectionName().
		WithGroup("").WithKind(gatewayv1.Kind(serviceKind.Kind)).WithName(gatewayv1.ObjectName(names.Service(in.Stack.Name)))
	return owned(in, gatewayv1ac.BackendTLSPolicy, names.BackendTLSPolicy(in.Stack.Name)).
		WithSpec(gatewayv1ac.BackendTLSPolicySpec().WithTargetRefs(target).WithValidation(validation)), nil
}

// serverCA returns the ConfigMap to which the policy refers. The ConfigMap contains the authorities.
func serverCA(in Input) (*corev1ac.ConfigMapApplyConfiguration, error) {
	if !gatewaySpeaksTLS(in) || in.Backend.Authorities == nil {
		return nil, nil
	}
	return owned(in, corev1ac.ConfigMap, names.ServerCA(in.Stack.Name)).
		WithData(map[string]string{names.TLSAuthority: string(in.Backend.Authorities)}), nil
}

func gatewaySpeaksTLS(in Input) bool {
	return in.Backend != nil && PodsServeTLS(in) && exposedBy(in, HTTPRouteKind) && in.Cluster.BackendTLSPolicies
}
