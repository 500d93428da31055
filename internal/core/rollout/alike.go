package rollout

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
)

// startDigest returns a digest of the parts of a rendered template that can prevent the server from starting, without
// its limits. The other parts are the user's labels and annotations, the grace period, the priority, the spread and
// requests. A label or an annotation with a prefix counts, because it belongs to a program that may change the pods. So
// does the choice of a node, because the server may fail on another kind of node.
func startDigest(template *corev1ac.PodTemplateSpecApplyConfiguration) (string, error) {
	digest, err := templateDigest(template, dropHarmless)
	if err != nil {
		return "", err
	}
	return digest[:shortLength], nil
}

// StartsAlike reports whether the server starts with a rendering if it starts with the pods that an earlier record
// describes. The parameter running is the template of these pods, as it is stored or as it was rendered.
func (r Rendered) StartsAlike(earlier Record, running any) (bool, error) {
	if earlier.Start == "" || earlier.Start != r.Record.Start {
		return false, nil
	}
	was, err := podFields(running)
	if err != nil {
		return false, fmt.Errorf("compare pod templates: %w", err)
	}
	is, err := podFields(r.Deployment.Spec.Template)
	if err != nil {
		return false, fmt.Errorf("compare pod templates: %w", err)
	}
	return !lowersLimits(was, is), nil
}

// dropHarmless removes the parts of a template that cannot prevent the server from starting, and the limits.
func dropHarmless(fields map[string]any) {
	for _, kind := range []string{"labels", "annotations"} {
		entries, _, _ := unstructured.NestedMap(fields, "metadata", kind)
		for key := range entries {
			if prefix, _, prefixed := strings.Cut(key, "/"); prefixed && prefix != "app.kubernetes.io" {
				continue
			}
			unstructured.RemoveNestedField(fields, "metadata", kind, key)
		}
		if left, _, _ := unstructured.NestedMap(fields, "metadata", kind); len(left) == 0 {
			unstructured.RemoveNestedField(fields, "metadata", kind)
		}
	}
	for _, name := range []string{"terminationGracePeriodSeconds", "priorityClassName", "topologySpreadConstraints"} {
		unstructured.RemoveNestedField(fields, "spec", name)
	}
	for _, container := range containers(fields) {
		unstructured.RemoveNestedField(container, "resources", "requests")
		unstructured.RemoveNestedField(container, "resources", "limits")
		if resources, _, _ := unstructured.NestedMap(container, "resources"); len(resources) == 0 {
			unstructured.RemoveNestedField(container, "resources")
		}
	}
}

// lowersLimits reports whether a container has a limit that it did not have before, or a lower one, or lacks a limit. A
// namespace may have a lower default for a limit that is removed.
func lowersLimits(was, is map[string]any) bool {
	earlier := map[any]map[string]any{}
	for _, container := range containers(was) {
		earlier[container["name"]], _, _ = unstructured.NestedMap(container, "resources", "limits")
	}
	for _, container := range containers(is) {
		limits, _, _ := unstructured.NestedMap(container, "resources", "limits")
		before := earlier[container["name"]]
		if len(limits) != len(before) {
			return true
		}
		for name, value := range limits {
			limit, err := quantity.Parse(fmt.Sprint(value))
			had, missing := quantity.Parse(fmt.Sprint(before[name]))
			if err != nil || missing != nil || limit.Cmp(had) < 0 {
				return true
			}
		}
	}
	return false
}

// containers returns the containers of a template. Callers may change them.
func containers(template map[string]any) []map[string]any {
	spec, _ := template["spec"].(map[string]any)
	var found []map[string]any
	for _, list := range []string{"containers", "initContainers"} {
		all, _ := spec[list].([]any)
		for _, one := range all {
			if container, ok := one.(map[string]any); ok {
				found = append(found, container)
			}
		}
	}
	return found
}
