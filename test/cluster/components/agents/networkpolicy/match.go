package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// end is the other end of an allowed connection. match is the nftables match for its address, and is empty for any
// address. pod is the pod with that address, or nil.
type end struct {
	match string
	pod   *corev1.Pod
}

// matches returns the nftables matches for the connections of pod that one rule of a policy in namespace allows: each
// peer of the rule with each of its ports.
func (c cluster) matches(namespace string, pod *corev1.Pod, d direction, rule allowance) []string {
	var found []string
	for _, other := range c.ends(namespace, d, rule) {
		if len(rule.ports) == 0 {
			found = append(found, other.match)
			continue
		}
		target := pod // the pod whose port the connection uses
		if d == egress {
			target = other.pod
		}
		for _, port := range rule.ports {
			for _, match := range portMatches(port, target) {
				found = append(found, strings.TrimSpace(other.match+" "+match))
			}
		}
	}
	return found
}

// ends returns the peers of a rule. A rule without peers allows all peers. If such an egress rule has a named port, the
// result also contains each pod, because the number of the port depends on the pod.
func (c cluster) ends(namespace string, d direction, rule allowance) []end {
	var ends []end
	if len(rule.peers) == 0 {
		ends = append(ends, end{})
	}
	for _, pod := range c.reachable() {
		if len(rule.peers) == 0 && d == egress && named(rule.ports) || c.anyPeer(namespace, rule.peers, pod) {
			ends = append(ends, end{match: "ip " + d.peer + " " + pod.Status.PodIP, pod: pod})
		}
	}
	for _, peer := range rule.peers {
		if peer.IPBlock == nil || strings.Contains(peer.IPBlock.CIDR, ":") { // pods have only IPv4 addresses
			continue
		}
		match := "ip " + d.peer + " " + peer.IPBlock.CIDR
		if len(peer.IPBlock.Except) > 0 {
			match += " ip " + d.peer + " != { " + strings.Join(peer.IPBlock.Except, ", ") + " }"
		}
		ends = append(ends, end{match: match})
	}
	return ends
}

// anyPeer reports whether one of the peers selects the pod.
func (c cluster) anyPeer(namespace string, peers []networkingv1.NetworkPolicyPeer, pod *corev1.Pod) bool {
	for _, peer := range peers {
		if peer.IPBlock == nil && c.inNamespace(namespace, peer, pod) && (peer.PodSelector == nil || selects(peer.PodSelector, pod.Labels)) {
			return true
		}
	}
	return false
}

// inNamespace reports whether the peer selects the namespace of the pod. A peer without a namespace selector selects
// the namespace of the policy.
func (c cluster) inNamespace(namespace string, peer networkingv1.NetworkPolicyPeer, pod *corev1.Pod) bool {
	if peer.NamespaceSelector == nil {
		return pod.Namespace == namespace
	}
	for _, candidate := range c.namespaces {
		if candidate.Name == pod.Namespace {
			return selects(peer.NamespaceSelector, candidate.Labels)
		}
	}
	return false
}

func named(ports []networkingv1.NetworkPolicyPort) bool {
	for _, port := range ports {
		if port.Port != nil && port.Port.Type == intstr.String {
			return true
		}
	}
	return false
}

// portMatches returns the matches of one port. A named port is looked up in the target's containers. A named port has
// no match if there is no target, or if the target has no such port.
func portMatches(port networkingv1.NetworkPolicyPort, target *corev1.Pod) []string {
	protocol := corev1.ProtocolTCP
	if port.Protocol != nil {
		protocol = *port.Protocol
	}
	word := strings.ToLower(string(protocol))
	switch {
	case port.Port == nil:
		return []string{"meta l4proto " + word}
	case port.Port.Type == intstr.Int && port.EndPort != nil:
		return []string{fmt.Sprintf("%s dport %d-%d", word, port.Port.IntVal, *port.EndPort)}
	case port.Port.Type == intstr.Int:
		return []string{fmt.Sprintf("%s dport %d", word, port.Port.IntVal)}
	case target == nil:
		return nil
	}
	var found []string
	for _, container := range target.Spec.Containers {
		for _, candidate := range container.Ports {
			if candidate.Name == port.Port.StrVal && candidate.Protocol == protocol {
				found = append(found, fmt.Sprintf("%s dport %d", word, candidate.ContainerPort))
			}
		}
	}
	return found
}
