package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
)

// shownDifferences bounds the number of paths in a message.
const shownDifferences = 8

// differences returns the paths at which the rendered template differs from the running one: fields that the operator
// would set, and fields that it owns and would remove. The result contains paths, never values.
func differences(live *appsv1.Deployment, own, rendered *corev1ac.PodTemplateSpecApplyConfiguration) (string, error) {
	var running, ours, next map[string]any
	for into, from := range map[*map[string]any]any{
		&running: &live.Spec.Template,
		&ours:    cmp.Or(own, &corev1ac.PodTemplateSpecApplyConfiguration{}), &next: rendered,
	} {
		fields, err := podFields(from)
		if err != nil {
			return "", fmt.Errorf("compare the template of Deployment %q: %w", live.Name, err)
		}
		*into = fields
	}
	paths := make(map[string]bool)
	compare("", next, running, reflect.DeepEqual, paths)
	// The first comparison finds changed values. The second one adds the fields that the operator owns and no longer
	// renders.
	compare("", ours, next, func(any, any) bool { return true }, paths)
	return list(slices.Sorted(maps.Keys(paths))), nil
}

// changedImages returns a sentence about the containers that get another image.
func changedImages(live *appsv1.Deployment, rendered *corev1ac.PodTemplateSpecApplyConfiguration) string {
	var text strings.Builder
	for _, running := range live.Spec.Template.Spec.Containers {
		for _, next := range rendered.Spec.Containers {
			name, image := ptr.Deref(next.Name, ""), ptr.Deref(next.Image, "")
			if name == running.Name && image != "" && image != running.Image {
				fmt.Fprintf(&text, "; container %q then runs image %q instead of %q", name, image, running.Image)
			}
		}
	}
	return text.String()
}

// compare collects the paths of fields that have a value in `a`, and no value or a different value in `b` (decision
// 0020).
func compare(path string, a, b any, same func(a, b any) bool, paths map[string]bool) {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok {
			paths[path] = true // the paths below this field are not useful
			return
		}
		for key, value := range a {
			compare(Join(path, key), value, other[key], same, paths)
		}
	case []any:
		other, _ := b.([]any)
		compareLists(path, a, other, same, paths)
	default:
		if a != nil && (b == nil || !same(a, b)) {
			paths[path] = true
		}
	}
}

// compareLists matches the items of two lists by the keys that identify items in Kubernetes lists. It compares lists of
// plain values as single values.
func compareLists(path string, a, b []any, same func(a, b any) bool, paths map[string]bool) {
	others := make(map[string]any, len(b))
	for _, item := range b {
		if key := itemKey(item); key != "" {
			others[key] = item
		}
	}
	for _, item := range a {
		key := itemKey(item)
		if key == "" {
			if len(b) == 0 || !same(any(a), any(b)) {
				paths[path] = true
			}
			return
		}
		compare(path+"["+key+"]", item, others[key], same, paths)
	}
}

func itemKey(item any) string {
	fields, ok := item.(map[string]any)
	if !ok {
		return ""
	}
	// The names of mounts are not unique, so their paths come first.
	for _, key := range []string{"mountPath", "name", "containerPort", "key"} {
		if value, ok := fields[key]; ok {
			return fmt.Sprint(value)
		}
	}
	return ""
}

// Join returns the path of a key below a path, as differences show it.
func Join(path, key string) string {
	switch {
	case path == "":
		return key
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	default:
		return path + "." + key
	}
}

func list(paths []string) string {
	if len(paths) == 0 {
		return "nothing"
	}
	if more := len(paths) - shownDifferences; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:shownDifferences], ", "), more)
	}
	return strings.Join(paths, ", ")
}
