package render

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// everyNamespace is the entry of allowedFrom for all namespaces.
const everyNamespace = "*"

// networkPolicy returns a policy that allows only the configured connections to the pods (FR-066). It does not restrict
// connections from the pods.
func networkPolicy(in Input) (*networkingv1ac.NetworkPolicyApplyConfiguration, error) {
	allowed := allowedFrom(&in.Stack.Spec)
	// For v1alpha1 stacks, only the operator's flag has ever enabled the policy.
	if !in.Cluster.NetworkPolicies && (allowed == nil || of(in).PolicyByFlag) {
		return nil, nil
	}
	rule := networkingv1ac.NetworkPolicyIngressRule().WithFrom(peers(in, allowed)...)
	for _, port := range allowedPorts(in) {
		rule.WithPorts(networkingv1ac.NetworkPolicyPort().
			WithProtocol(corev1.ProtocolTCP).WithPort(intstr.FromInt32(port)))
	}
	return owned(in, networkingv1ac.NetworkPolicy, names.NetworkPolicy(in.Stack.Name)).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(podSelector(in)).
			WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(rule)), nil
}

// AllowedFromIgnored reports whether the spec limits who can connect, but the stack has no policy.
func AllowedFromIgnored(in Input) bool {
	allowed := allowedFrom(&in.Stack.Spec)
	return allowed != nil && of(in).PolicyByFlag && !in.Cluster.NetworkPolicies &&
		!slices.Contains(allowed.Namespaces, everyNamespace)
}

// allowedPorts returns the port in the spec, and the other ports of the pods that run. A policy with the name of the
// port would not need the numbers, but not every network plugin supports names.
func allowedPorts(in Input) []int32 {
	ports := []int32{Port(&in.Stack.Spec)}
	for _, pods := range in.Running {
		ports = append(ports, pods.Port)
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

func allowedFrom(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.AllowedFromSpec {
	if spec.Networking == nil {
		return nil
	}
	return spec.Networking.AllowedFrom
}

// peers returns the stack's own namespace and the operator's, followed by the namespaces in allowedFrom and the sources
// of connections to an exposed stack. If allowedFrom contains everyNamespace, peers returns only a peer for all
// namespaces.
func peers(in Input, allowed *v1alpha2.AllowedFromSpec) []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	if allowed == nil {
		allowed = &v1alpha2.AllowedFromSpec{}
	}
	if slices.Contains(allowed.Namespaces, everyNamespace) {
		return []*networkingv1ac.NetworkPolicyPeerApplyConfiguration{fromNamespaces(metav1ac.LabelSelector())}
	}
	found := []*networkingv1ac.NetworkPolicyPeerApplyConfiguration{
		networkingv1ac.NetworkPolicyPeer().WithPodSelector(metav1ac.LabelSelector()),
		fromNamespace(cmp.Or(in.Cluster.OperatorNamespace, names.OperatorNamespace)),
	}
	for _, namespace := range allowed.Namespaces {
		found = append(found, fromNamespace(namespace))
	}
	for _, label := range allowed.Labels {
		found = append(found, fromNamespaces(labeled(label)))
	}
	return append(found, exposurePeers(in)...)
}

// policyGroup is OpenShift's label for the namespaces of its routers.
const policyGroup = "network.openshift.io/policy-group"

// exposurePeers returns the sources of connections to an exposed stack: OpenShift's routers, the namespaces of the
// ingress controller, and the namespace of the Gateway. If the stack is not exposed, it returns no sources, except for
// a v1alpha1 stack whose spec sets expose or allowedFrom.
func exposurePeers(in Input) []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	networking := in.Stack.Spec.Networking
	asked := of(in).PolicyByFlag && networking != nil && (networking.Expose != nil || networking.AllowedFrom != nil)
	if in.Expose == nil && !asked {
		return nil
	}
	found := []*networkingv1ac.NetworkPolicyPeerApplyConfiguration{
		fromNamespaces(metav1ac.LabelSelector().WithMatchLabels(map[string]string{policyGroup: "ingress"})),
	}
	namespaces := slices.Clone(in.Cluster.Ingress.ControllerNamespaces)
	if gateway := in.Cluster.Gateway; gateway != nil {
		namespaces = append(namespaces, gateway.Namespace)
	}
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
		found = append(found, fromNamespace(namespace))
	}
	return found
}

// labeled returns a selector for a label, which is key=value, or a key whose value does not matter.
func labeled(label string) *metav1ac.LabelSelectorApplyConfiguration {
	if key, value, ok := strings.Cut(label, "="); ok {
		return metav1ac.LabelSelector().WithMatchLabels(map[string]string{key: value})
	}
	return metav1ac.LabelSelector().WithMatchExpressions(
		metav1ac.LabelSelectorRequirement().WithKey(label).WithOperator(metav1.LabelSelectorOpExists))
}

func fromNamespace(name string) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return fromNamespaces(metav1ac.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: name}))
}

func fromNamespaces(
	selector *metav1ac.LabelSelectorApplyConfiguration,
) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(selector)
}
