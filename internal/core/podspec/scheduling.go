package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

func (c *check) tolerations(path *field.Path, tolerations []corev1.Toleration) {
	for i := range tolerations {
		t, path := &tolerations[i], path.Index(i)
		c.text(path.Child("key"), t.Key, validation.IsQualifiedName)
		intent.OneOf(&c.Errors, path.Child("operator"), t.Operator,
			corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt)
		switch {
		case t.Key == "" && t.Operator != corev1.TolerationOpExists:
			c.Required(path.Child("operator"), "required: without a key, the operator must be Exists")
		case t.Operator == corev1.TolerationOpExists && t.Value != "":
			c.Forbidden(path.Child("value"), "the operator Exists has no value: remove the value, or use the operator Equal")
		case t.Operator == "" || t.Operator == corev1.TolerationOpEqual:
			c.text(path.Child("value"), t.Value, validation.IsValidLabelValue)
		}
		intent.OneOf(&c.Errors, path.Child("effect"), t.Effect,
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			c.Forbidden(path.Child("tolerationSeconds"), "requires the effect NoExecute: set the effect, or remove the seconds")
		}
	}
}

// Spread checks the constraints on the distribution of pods over nodes.
func Spread(path *field.Path, constraints []corev1.TopologySpreadConstraint) field.ErrorList {
	var c check
	for i := range constraints {
		s, path := &constraints[i], path.Index(i)
		if s.MaxSkew <= 0 {
			c.Invalid(path.Child("maxSkew"), s.MaxSkew, "%d is too small: use 1 or more", s.MaxSkew)
		}
		if s.TopologyKey == "" {
			c.Required(path.Child("topologyKey"), "required: set the key of a label of nodes")
		}
		if s.WhenUnsatisfiable == "" {
			c.Required(path.Child("whenUnsatisfiable"), "required: use DoNotSchedule or ScheduleAnyway")
		}
		intent.OneOf(&c.Errors, path.Child("whenUnsatisfiable"), s.WhenUnsatisfiable,
			corev1.DoNotSchedule, corev1.ScheduleAnyway)
		if s.MinDomains != nil && (*s.MinDomains <= 0 || s.WhenUnsatisfiable != corev1.DoNotSchedule) {
			c.Invalid(path.Child("minDomains"), *s.MinDomains, "requires a number greater than 0, and whenUnsatisfiable DoNotSchedule")
		}
		c.selector(path.Child("labelSelector"), s.LabelSelector)
	}
	return c.list()
}

func (c *check) affinity(path *field.Path, affinity *corev1.Affinity) {
	if affinity == nil {
		return
	}
	if node := affinity.NodeAffinity; node != nil {
		path := path.Child("nodeAffinity")
		if required := node.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			terms := path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
			if len(required.NodeSelectorTerms) == 0 {
				c.Required(terms, "required: add a term")
			}
			for i := range required.NodeSelectorTerms {
				c.nodeTerm(terms.Index(i), &required.NodeSelectorTerms[i])
			}
		}
		for i := range node.PreferredDuringSchedulingIgnoredDuringExecution {
			preferred := &node.PreferredDuringSchedulingIgnoredDuringExecution[i]
			path := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
			c.weight(path, preferred.Weight)
			c.nodeTerm(path.Child("preference"), &preferred.Preference)
		}
	}
	if pod := affinity.PodAffinity; pod != nil {
		c.podTerms(path.Child("podAffinity"), pod.RequiredDuringSchedulingIgnoredDuringExecution,
			pod.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if pod := affinity.PodAntiAffinity; pod != nil {
		c.podTerms(path.Child("podAntiAffinity"), pod.RequiredDuringSchedulingIgnoredDuringExecution,
			pod.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (c *check) weight(path *field.Path, weight int32) {
	if weight < 1 || weight > 100 {
		c.Invalid(path.Child("weight"), weight, "%d is out of range: use a value from 1 to 100", weight)
	}
}

func (c *check) nodeTerm(path *field.Path, term *corev1.NodeSelectorTerm) {
	for i, r := range term.MatchExpressions {
		path := path.Child("matchExpressions").Index(i)
		c.name(path.Child("key"), r.Key, validation.IsQualifiedName)
		c.requirement(path, r)
	}
	for i, r := range term.MatchFields {
		c.requirement(path.Child("matchFields").Index(i), r)
	}
}

// requirement checks the operator of a requirement for nodes, and the number of its values.
func (c *check) requirement(path *field.Path, r corev1.NodeSelectorRequirement) {
	values, count := path.Child("values"), len(r.Values)
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if count == 0 {
			c.Required(values, "required: the operator %s needs a value", r.Operator)
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if count > 0 {
			c.Forbidden(values, "the operator %s has no values: remove them", r.Operator)
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if count != 1 {
			c.Required(values, "required: the operator %s needs exactly one value", r.Operator)
		}
	case "":
		c.Required(path.Child("operator"), "required: use In, NotIn, Exists, DoesNotExist, Gt or Lt")
	default:
		c.Invalid(path.Child("operator"), string(r.Operator), "%q is not an operator: use In, NotIn, Exists, DoesNotExist, Gt or Lt", r.Operator)
	}
}

func (c *check) podTerms(
	path *field.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm,
) {
	for i := range required {
		c.podTerm(path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i), &required[i])
	}
	for i := range preferred {
		path := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		c.weight(path, preferred[i].Weight)
		c.podTerm(path.Child("podAffinityTerm"), &preferred[i].PodAffinityTerm)
	}
}

func (c *check) podTerm(path *field.Path, term *corev1.PodAffinityTerm) {
	c.name(path.Child("topologyKey"), term.TopologyKey, validation.IsQualifiedName)
	c.selector(path.Child("labelSelector"), term.LabelSelector)
	c.selector(path.Child("namespaceSelector"), term.NamespaceSelector)
	for i, namespace := range term.Namespaces {
		c.name(path.Child("namespaces").Index(i), namespace, validation.IsDNS1123Label)
	}
}
