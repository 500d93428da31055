package refusal

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var (
	storage     = field("spec", "workload", "storage")
	autoscaling = field("spec", "workload", "autoscaling")
	budget      = field("spec", "workload", "podDisruptionBudget")
	expose      = field("spec", "networking", "expose")
	port        = field("spec", "networking", "port")
)

// origin is the field in the spec from which a field of an object is rendered.
type origin struct {
	// from are the first fields of a path in the object.
	from []string
	// to is the path in the spec.
	to path
	// below reports whether the rest of the path is the same in both.
	below bool
}

// exposed are the origins of the fields that all objects have which expose a stack.
var exposed = []origin{
	{[]string{"metadata", "annotations"}, slices.Concat(expose, field("annotations")), true},
	{[]string{"spec", "host"}, slices.Concat(expose, field("hostname")), false},
	{[]string{"spec", "hostnames"}, slices.Concat(expose, field("hostname")), false},
	{[]string{"spec", "rules"}, slices.Concat(expose, field("hostname")), false},
	{[]string{"spec", "tls"}, slices.Concat(expose, field("tlsSecretName")), false},
	{[]string{"spec", "ingressClassName"}, slices.Concat(expose, field("ingressClassName")), false},
}

// origins lists the origins of the fields of each kind, except pods and NetworkPolicies.
var origins = map[string][]origin{
	"Deployment": {{[]string{"spec", "replicas"}, field("spec", "workload", "replicas"), false}},
	"PersistentVolumeClaim": {
		{[]string{"spec", "resources"}, slices.Concat(storage, field("size")), false},
		{[]string{"spec", "storageClassName"}, slices.Concat(storage, field("storageClassName")), false},
		{[]string{"spec", "accessModes"}, slices.Concat(storage, field("accessModes")), true},
	},
	"Service":   {{[]string{"spec", "ports"}, port, false}},
	"Ingress":   exposed,
	"Route":     exposed,
	"HTTPRoute": exposed,
	"HorizontalPodAutoscaler": {
		{[]string{"spec", "minReplicas"}, slices.Concat(autoscaling, field("minReplicas")), false},
		{[]string{"spec", "maxReplicas"}, slices.Concat(autoscaling, field("maxReplicas")), false},
	},
	"PodDisruptionBudget": {
		{[]string{"spec", "minAvailable"}, slices.Concat(budget, field("minAvailable")), false},
		{[]string{"spec", "maxUnavailable"}, slices.Concat(budget, field("maxUnavailable")), false},
	},
}

// field returns the path in the spec for a field of an object. It returns nil if the spec does not set the field, or if
// the origin of the field is not known.
func (s *source) field(at path, object *unstructured.Unstructured) path {
	if at.String() == "metadata.name" {
		return at // the names of all objects begin with the name of the stack
	}
	kind := object.GetKind()
	for _, one := range origins[kind] {
		rest, ok := at.after(one.from...)
		if !ok {
			continue
		}
		to := one.to
		if one.below {
			to = slices.Concat(to, rest)
		}
		if s.has(to) {
			return to
		}
	}
	switch kind {
	case "NetworkPolicy":
		return s.allowed(at, object)
	case "Deployment":
		if rest, ok := at.after("spec", "template"); ok {
			template, _ := field("spec", "template").at(object.Object)
			return s.pod(rest, template)
		}
	case "Pod":
		return s.pod(at, object.Object)
	}
	return nil
}

// allowed returns the entry of spec.networking.allowedFrom for a client in a NetworkPolicy.
func (s *source) allowed(at path, object *unstructured.Unstructured) path {
	const below = 5 // spec.ingress[0].from[1]
	if len(at) < below {
		return nil
	}
	peer, _ := at[:below].at(object.Object)
	client, _ := peer.(map[string]any)
	labels, _, _ := unstructured.NestedStringMap(client, "namespaceSelector", "matchLabels")
	expressions, _, _ := unstructured.NestedSlice(client, "namespaceSelector", "matchExpressions")
	from := field("spec", "networking", "allowedFrom")
	for i, item := range s.list(slices.Concat(from, field("namespaces"))) {
		if name, is := labels[corev1.LabelMetadataName]; is && name == item {
			return slices.Concat(from, field("namespaces", i))
		}
	}
	for i, item := range s.list(slices.Concat(from, field("labels"))) {
		text, _ := item.(string)
		key, value, hasValue := strings.Cut(text, "=")
		if given, is := labels[key]; is && hasValue && given == value {
			return slices.Concat(from, field("labels", i))
		}
		if !hasValue && len(expressions) == 1 && keyOf(expressions[0], "key") == key {
			return slices.Concat(from, field("labels", i))
		}
	}
	return nil
}
