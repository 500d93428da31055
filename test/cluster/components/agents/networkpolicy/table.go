package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// cluster holds the objects that determine which pods may connect.
type cluster struct {
	pods       []*corev1.Pod
	namespaces []*corev1.Namespace
	policies   []*networkingv1.NetworkPolicy
}

// direction is one of the two directions in which a pod can be isolated.
type direction struct {
	kind networkingv1.PolicyType
	// own and peer are the fields of a packet that contain the addresses of the pod and of its peer.
	own, peer string
	// prefix is the prefix of the names of the direction's chains.
	prefix string
}

var (
	ingress = direction{kind: networkingv1.PolicyTypeIngress, own: "daddr", peer: "saddr", prefix: "in_"}
	egress  = direction{kind: networkingv1.PolicyTypeEgress, own: "saddr", peer: "daddr", prefix: "out_"}
)

// table renders all policies as one nftables table. A pod has a chain for each direction in which it is isolated. The
// chain returns a packet that one of its rules allows, and drops any other packet. Services need no rule, because the
// node replaces their addresses with the addresses of pods before it forwards a packet.
func (c cluster) table() string {
	var chains, jumps strings.Builder
	for _, pod := range c.reachable() {
		for _, d := range []direction{ingress, egress} {
			rules, isolated := c.rules(pod, d)
			if !isolated {
				continue
			}
			name := d.prefix + strings.ReplaceAll(pod.Status.PodIP, ".", "_")
			fmt.Fprintf(&chains, "  chain %s {\n", name)
			for _, rule := range rules {
				fmt.Fprintf(&chains, "    %s\n", strings.TrimSpace(rule+" return"))
			}
			chains.WriteString("    drop\n  }\n")
			fmt.Fprintf(&jumps, "    ip %s %s jump %s\n", d.own, pod.Status.PodIP, name)
		}
	}
	return "add table ip networkpolicy\ndelete table ip networkpolicy\ntable ip networkpolicy {\n" + chains.String() +
		"  chain forward {\n    type filter hook forward priority 0; policy accept;\n    ct state established,related accept\n" +
		jumps.String() + "  }\n}\n"
}

// reachable returns the running pods that have an address of their own, sorted by address.
func (c cluster) reachable() []*corev1.Pod {
	live := slices.DeleteFunc(slices.Clone(c.pods), func(pod *corev1.Pod) bool {
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		return pod.Status.PodIP == "" || pod.Spec.HostNetwork || ended
	})
	slices.SortFunc(live, func(a, b *corev1.Pod) int { return cmp.Compare(a.Status.PodIP, b.Status.PodIP) })
	return live
}

// rules returns the matches for the connections of the pod that the policies allow in a direction. isolated reports
// whether any policy applies to the pod.
func (c cluster) rules(pod *corev1.Pod, d direction) (rules []string, isolated bool) {
	for _, policy := range c.policies {
		if policy.Namespace != pod.Namespace || !slices.Contains(policy.Spec.PolicyTypes, d.kind) || !selects(&policy.Spec.PodSelector, pod.Labels) {
			continue
		}
		isolated = true
		for _, allowed := range allowances(policy, d) {
			rules = append(rules, c.matches(policy.Namespace, pod, d, allowed)...)
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules), isolated
}

// allowance contains the peers and ports of an ingress or egress rule.
type allowance struct {
	peers []networkingv1.NetworkPolicyPeer
	ports []networkingv1.NetworkPolicyPort
}

func allowances(policy *networkingv1.NetworkPolicy, d direction) []allowance {
	var all []allowance
	if d == ingress {
		for _, rule := range policy.Spec.Ingress {
			all = append(all, allowance{rule.From, rule.Ports})
		}
		return all
	}
	for _, rule := range policy.Spec.Egress {
		all = append(all, allowance{rule.To, rule.Ports})
	}
	return all
}

// selects reports whether a selector matches. An invalid selector matches nothing.
func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(of))
}
