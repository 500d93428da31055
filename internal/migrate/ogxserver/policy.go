package ogxserver

import (
	"fmt"
	"slices"
)

// policy restricts which clients can connect. By default, an OGXServer has a NetworkPolicy.
func (c *conversion) policy() {
	const field = "spec.network.policy"
	place := []string{"spec", "networking", "allowedFrom"}
	if enabled := c.get(field + ".enabled"); enabled == false {
		c.needless(field, "the policy is not enabled, and a stack without spec.networking.allowedFrom has no NetworkPolicy either, unless the operator's ConfigMap enables one for every stack")
		return
	}
	c.put(map[string]any{}, place...)
	c.went(path(field), place)
	c.policyTypes(field)
	c.note("By default, an OGXServer has a NetworkPolicy that allows the server's own namespace and the operator's namespace. "+
		"In a stack, allowedFrom creates such a NetworkPolicy, which also allows the namespaces listed in allowedFrom. Without allowedFrom, a stack has no NetworkPolicy, unless the operator's ConfigMap "+
		"enables one for every stack.", place...)
	if rules, _ := c.get(field + ".ingress").([]any); len(rules) > 0 {
		c.differs("The NetworkPolicy of a stack always allows the stack's own namespace and the operator's namespace. "+
			"The ogx-k8s-operator allows only the peers in the rules of spec.network.policy.ingress.", place...)
	}
	rules, _ := c.get("spec.network.policy.ingress").([]any)
	a := allowed{conversion: c}
	for i, value := range rules {
		rule, _ := value.(map[string]any)
		a.rule(rule, fmt.Sprintf("spec.network.policy.ingress[%d]", i))
	}
	if len(a.namespaces) > 0 {
		c.put(a.namespaces, "spec", "networking", "allowedFrom", "namespaces")
	}
	if len(a.labels) > 0 {
		c.put(a.labels, "spec", "networking", "allowedFrom", "labels")
	}
}

// policyTypes reports the egress rules and policy types that have no effect in a stack. The ogx-k8s-operator restricts
// incoming connections regardless of the policy types, and the stack does the same.
func (c *conversion) policyTypes(field string) {
	if egress, _ := c.get(field + ".egress").([]any); len(egress) > 0 {
		c.leaveOut(field+".egress", "a stack does not restrict the outgoing connections of its pods: "+
			"create your own NetworkPolicy with the podSelector app.kubernetes.io/instance: <name> and app: llama-stack")
	}
	types, _ := c.get(field + ".policyTypes").([]any)
	if len(types) > 0 && !slices.Contains(types, any("Ingress")) {
		c.leaveOut(field+".policyTypes", "the list does not contain Ingress, "+
			"but the ogx-k8s-operator still restricts incoming connections, and the stack does the same: "+
			"remove spec.networking.allowedFrom to allow all connections")
	}
	if slices.Contains(types, any("Egress")) && c.get(field+".egress") == nil {
		c.leaveOut(field+".policyTypes", "Egress without rules has no effect in an OGXServer, and a stack does not restrict the outgoing connections of its pods")
	}
}

// allowed holds the namespaces of spec.networking.allowedFrom, by name and by label.
type allowed struct {
	*conversion
	namespaces, labels []any
}

const ownPolicy = "create your own NetworkPolicy with the podSelector app.kubernetes.io/instance: <name> and app: llama-stack; policies are additive"

func (a *allowed) rule(rule map[string]any, at string) {
	if ports, _ := rule["ports"].([]any); !a.samePort(ports) {
		a.leaveOut(at+".ports", "the NetworkPolicy of a stack allows connections only to the server's port: "+ownPolicy)
		return
	}
	peers, _ := rule["from"].([]any)
	if len(peers) == 0 {
		a.add(&a.namespaces, everyNamespace)
		a.leaveOut(at+".from", "a rule without peers allows all clients, but "+
			`"*" in spec.networking.allowedFrom.namespaces allows only pods in the cluster: `+
			"for clients outside the cluster, "+ownPolicy)
	}
	for i, value := range peers {
		peer, _ := value.(map[string]any)
		a.peer(peer, fmt.Sprintf("%s.from[%d]", at, i))
	}
}

// samePort reports whether the ports of a rule are only the server's port, or all ports.
func (a *allowed) samePort(ports []any) bool {
	server, ok := a.number("spec.network.port")
	if !ok || server == 0 {
		server = 8321
	}
	of := func(value any) bool {
		port, _ := value.(map[string]any)
		number, ok := whole(port["port"])
		return ok && number == server && port["endPort"] == nil && (port["protocol"] == nil || port["protocol"] == "TCP")
	}
	return len(ports) == 0 || slices.ContainsFunc(ports, of) &&
		!slices.ContainsFunc(ports, func(value any) bool { return !of(value) })
}

// everyNamespace is the entry of allowedFrom.namespaces that allows all namespaces.
const everyNamespace = "*"

// peer adds a peer that selects namespaces. The stack's own namespace is always allowed.
func (a *allowed) peer(peer map[string]any, at string) {
	namespaces, ok := peer["namespaceSelector"].(map[string]any)
	pods, _ := peer["podSelector"].(map[string]any)
	switch {
	case peer["podSelector"] != nil && !ok && len(pods) == 0: // This peer selects the stack's own namespace.
	case !ok || len(pods) > 0 || peer["ipBlock"] != nil:
		a.leaveOut(at, "spec.networking.allowedFrom selects only whole namespaces, by name or by a label: "+ownPolicy)
	case !a.selector(namespaces):
		a.leaveOut(at, "spec.networking.allowedFrom accepts only one label for each entry, as key or key=value: "+ownPolicy)
	}
}

// selector adds the namespaces of a selector, and reports whether allowedFrom can express the selector.
func (a *allowed) selector(selector map[string]any) bool {
	labels, _ := selector["matchLabels"].(map[string]any)
	expressions, _ := selector["matchExpressions"].([]any)
	switch {
	case len(labels)+len(expressions) == 0:
		a.add(&a.namespaces, everyNamespace)
		return true
	case len(labels)+len(expressions) > 1:
		return false
	case len(labels) == 1:
		for key, value := range labels {
			a.label(key, fmt.Sprint(value))
		}
		return true
	default:
		return a.expression(expressions[0])
	}
}

func (a *allowed) label(key, value string) {
	if key == "kubernetes.io/metadata.name" {
		a.add(&a.namespaces, value)
		return
	}
	a.add(&a.labels, key+"="+value)
}

// expression adds an expression that requires a label key, or one of several values of a label. It reports whether
// allowedFrom can express the expression.
func (a *allowed) expression(value any) bool {
	expression, _ := value.(map[string]any)
	key, _ := expression["key"].(string)
	values, _ := expression["values"].([]any)
	switch expression["operator"] {
	case "Exists":
		a.add(&a.labels, key)
		return true
	case "In":
		for _, value := range values {
			a.label(key, fmt.Sprint(value))
		}
		return len(values) > 0
	default:
		return false
	}
}

func (a *allowed) add(list *[]any, entry string) {
	if !slices.Contains(*list, any(entry)) {
		*list = append(*list, entry)
	}
}
