package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// pod returns a pod with the label app=<name> and a port with the name "http". The namespace of the pod is the part of
// name before a slash, or "a" if there is no slash.
func pod(name, address string) *corev1.Pod {
	namespace, short, found := strings.Cut(name, "/")
	if !found {
		namespace, short = "a", name
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: short, Labels: map[string]string{"app": short}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		}}},
		Status: corev1.PodStatus{PodIP: address},
	}
}

func app(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

func from(rules ...networkingv1.NetworkPolicyIngressRule) networkingv1.NetworkPolicySpec {
	return networkingv1.NetworkPolicySpec{
		PodSelector: *app("web"), PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, Ingress: rules,
	}
}

func to(rules ...networkingv1.NetworkPolicyEgressRule) networkingv1.NetworkPolicySpec {
	return networkingv1.NetworkPolicySpec{
		PodSelector: *app("web"), PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}, Egress: rules,
	}
}

func ports(all ...intstr.IntOrString) []networkingv1.NetworkPolicyPort {
	var list []networkingv1.NetworkPolicyPort
	for _, port := range all {
		list = append(list, networkingv1.NetworkPolicyPort{Port: &port})
	}
	return list
}

// rulesOf returns the lines of a chain in the table, or nil if there is no such chain.
func rulesOf(table, chain string) []string {
	_, rest, found := strings.Cut(table, "chain "+chain+" {\n")
	if !found {
		return nil
	}
	body, _, _ := strings.Cut(rest, "  }\n")
	var rules []string
	for line := range strings.Lines(body) {
		rules = append(rules, strings.TrimSpace(line))
	}
	return rules
}

func TestTable(t *testing.T) {
	peer := func(p networkingv1.NetworkPolicyPeer) []networkingv1.NetworkPolicyPeer {
		return []networkingv1.NetworkPolicyPeer{p}
	}
	other := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "b"}}
	udp := corev1.ProtocolUDP
	last := int32(90)
	for _, test := range []struct {
		name  string
		spec  networkingv1.NetworkPolicySpec
		chain string
		want  string
	}{
		{"no pod may connect", from(), "in_10_0_0_1", "drop"},
		{"an ingress policy does not restrict egress", from(), "out_10_0_0_1", ""},
		{"every pod may connect", from(networkingv1.NetworkPolicyIngressRule{}), "in_10_0_0_1", "return|drop"},
		{
			"a pod of the same namespace", from(networkingv1.NetworkPolicyIngressRule{From: peer(networkingv1.NetworkPolicyPeer{PodSelector: app("client")})}),
			"in_10_0_0_1", "ip saddr 10.0.0.2 return|drop",
		},
		{
			"all pods of other namespaces", from(networkingv1.NetworkPolicyIngressRule{From: peer(networkingv1.NetworkPolicyPeer{NamespaceSelector: other})}),
			"in_10_0_0_1", "ip saddr 10.0.0.3 return|drop",
		},
		{
			"a named port is the pod's own", from(networkingv1.NetworkPolicyIngressRule{Ports: ports(intstr.FromString("http"), intstr.FromString("none"))}),
			"in_10_0_0_1", "tcp dport 8080 return|drop",
		},
		{
			"a range", from(networkingv1.NetworkPolicyIngressRule{Ports: []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromInt32(80)), EndPort: &last}}}),
			"in_10_0_0_1", "tcp dport 80-90 return|drop",
		},
		{
			"a protocol", to(networkingv1.NetworkPolicyEgressRule{Ports: []networkingv1.NetworkPolicyPort{{Protocol: &udp}}}),
			"out_10_0_0_1", "meta l4proto udp return|drop",
		},
		{
			"addresses", to(networkingv1.NetworkPolicyEgressRule{To: peer(networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"}}})}),
			"out_10_0_0_1", "ip daddr 10.0.0.0/8 ip daddr != { 10.1.0.0/16 } return|drop",
		},
		{
			"IPv6 addresses match no pod", to(networkingv1.NetworkPolicyEgressRule{To: peer(networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "fd00::/8"}})}),
			"out_10_0_0_1", "drop",
		},
		{
			"egress to a named port of a peer", to(networkingv1.NetworkPolicyEgressRule{To: peer(networkingv1.NetworkPolicyPeer{PodSelector: app("client")}), Ports: ports(intstr.FromString("http"))}),
			"out_10_0_0_1", "ip daddr 10.0.0.2 tcp dport 8080 return|drop",
		},
		{
			"egress to a named port of any pod", to(networkingv1.NetworkPolicyEgressRule{Ports: ports(intstr.FromString("http"))}),
			"out_10_0_0_1", "ip daddr 10.0.0.1 tcp dport 8080 return|ip daddr 10.0.0.2 tcp dport 8080 return|ip daddr 10.0.0.3 tcp dport 8080 return|drop",
		},
	} {
		c := cluster{
			pods: []*corev1.Pod{pod("b/client", "10.0.0.3"), pod("web", "10.0.0.1"), pod("client", "10.0.0.2")},
			namespaces: []*corev1.Namespace{
				{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
				{ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: map[string]string{"team": "b"}}},
			},
			policies: []*networkingv1.NetworkPolicy{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}, Spec: test.spec}},
		}
		if got := strings.Join(rulesOf(c.table(), test.chain), "|"); got != test.want {
			t.Errorf("%s: %s is %q, want %q", test.name, test.chain, got, test.want)
		}
	}
}

func TestPodsThatHaveNoAddressOfTheirOwnAreLeftOut(t *testing.T) {
	ended, host, early := pod("web", "10.0.0.1"), pod("web", "10.0.0.2"), pod("web", "")
	ended.Status.Phase = corev1.PodFailed
	host.Spec.HostNetwork = true
	c := cluster{
		pods:     []*corev1.Pod{ended, host, early},
		policies: []*networkingv1.NetworkPolicy{{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}, Spec: from()}},
	}
	if table := c.table(); strings.Contains(table, "drop") {
		t.Errorf("a pod is isolated:\n%s", table)
	}
}
