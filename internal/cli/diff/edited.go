package diff

import (
	"encoding/json"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// edited returns the live stack as it would be after `kubectl apply` of a manifest. Fields that exist in the last
// applied manifest but not in the new manifest are removed, and fields that other clients have set do not change. If
// kubectl has applied no manifest, the new manifest replaces the whole spec.
func edited(live, manifest *v1alpha2.LlamaStackDistribution) (*v1alpha2.LlamaStackDistribution, error) {
	next := live.DeepCopy()
	next.Generation++
	last, applied := lastApplied(live)
	parts := []struct{ original, modified, current, into any }{
		{last.Annotations, manifest.Annotations, without(live.Annotations), &next.Annotations},
		{last.Labels, manifest.Labels, live.Labels, &next.Labels},
		{last.Spec, manifest.Spec, live.Spec, &next.Spec},
	}
	if !applied {
		parts[2].original = live.Spec
	}
	for _, part := range parts {
		merged, err := threeWay(part.original, part.modified, part.current)
		if err == nil {
			reflect.ValueOf(part.into).Elem().SetZero()
			err = typecheck.Unmarshal(merged, part.into)
		}
		if err != nil {
			return nil, fmt.Errorf("merge the manifest with stack %q in namespace %q: %w", live.Name, live.Namespace,
				err)
		}
	}
	return next, nil
}

// without returns a copy of the annotations without the manifest that kubectl applied last.
func without(annotations map[string]string) map[string]string {
	copied := make(map[string]string, len(annotations))
	for name, value := range annotations {
		if name != corev1.LastAppliedConfigAnnotation {
			copied[name] = value
		}
	}
	return copied
}

// lastApplied returns the manifest that kubectl applied last, and false if there is no such manifest or it cannot be
// read.
func lastApplied(live *v1alpha2.LlamaStackDistribution) (*v1alpha2.LlamaStackDistribution, bool) {
	none := &v1alpha2.LlamaStackDistribution{}
	data := []byte(live.Annotations[corev1.LastAppliedConfigAnnotation])
	var meta metav1.TypeMeta
	if len(data) == 0 || json.Unmarshal(data, &meta) != nil {
		return none, false
	}
	found := dryrun.DecodeStack(document.Document{Data: data, Meta: meta}, live.Namespace)
	if !found.Decoded {
		return none, false
	}
	return found.Object, true
}

// threeWay merges values that are encoded as JSON objects.
func threeWay(original, modified, current any) ([]byte, error) {
	var sides [3]map[string]any
	for i, side := range []any{original, modified, current} {
		data, err := json.Marshal(side)
		if err == nil {
			err = dryrun.DecodeNumbers(data, &sides[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(mergeFields(sides[0], sides[1], sides[2]))
}

// mergeFields merges objects as `kubectl apply` does for custom resources. It replaces whole lists.
func mergeFields(original, modified, current map[string]any) map[string]any {
	merged := make(map[string]any, len(current))
	for key, value := range current {
		_, was := original[key]
		if _, is := modified[key]; is || !was {
			merged[key] = value
		}
	}
	for key, value := range modified {
		fields, isObject := value.(map[string]any)
		now, alsoObject := merged[key].(map[string]any)
		if isObject && alsoObject {
			was, _ := original[key].(map[string]any)
			merged[key] = mergeFields(was, fields, now)
		} else {
			merged[key] = value
		}
	}
	return merged
}
