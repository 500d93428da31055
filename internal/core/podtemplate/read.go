package podtemplate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// These limits apply to every patch. A long list is expensive, because the merge searches the whole list for each of
// its items. The largest known pods have far fewer variables and volumes.
const (
	// MaxBytes is the maximum size of a patch in bytes.
	MaxBytes = 256 << 10
	// MaxEntries is the maximum length of each list, and of each map, in a patch.
	MaxEntries = 500
)

// The constant directive is the key of the directive that this package interprets in a strategic merge patch. The
// constant remove is the value of this directive for a removal.
const (
	directive = "$patch"
	remove    = "delete"
)

// directives lists the allowed keys that start with "$". An entry that ends with a slash is a prefix of keys.
var directives = []string{directive, "$retainKeys", "$deleteFromPrimitiveList/", "$setElementOrder/"}

// read decodes a patch and reports fields that a pod template does not have. An object that the patch removes is null
// in the result, because the merge would otherwise leave an empty object.
func read(patch []byte, path *field.Path) (map[string]any, field.ErrorList) {
	if len(patch) > MaxBytes {
		return nil, field.ErrorList{field.Forbidden(path, fmt.Sprintf("%d bytes exceed the limit of %d for a patch: "+
			"move long parts to a ConfigMap and mount the ConfigMap", len(patch), MaxBytes))}
	}
	var changes map[string]any
	if err := json.Unmarshal(patch, &changes); err != nil || changes == nil {
		return nil, field.ErrorList{field.TypeInvalid(path, field.OmitValueType{},
			"must be an object that is part of a pod template, such as {spec: {tolerations: […]}}")}
	}
	var errs field.ErrorList
	if tooMany(changes, path, &errs); len(errs) > 0 {
		return nil, errs
	}
	fields, _ := withoutDirectives(changes, path, &errs).(map[string]any)
	if len(errs) > 0 {
		return nil, errs
	}
	if errs := strict(fields, path); len(errs) > 0 {
		return nil, errs
	}
	if errs := unnamed(changes, reflect.TypeFor[corev1.PodTemplateSpec](), path); len(errs) > 0 {
		return nil, errs
	}
	removals(changes)
	return changes, nil
}

// tooMany reports lists and maps that are too long.
func tooMany(value any, path *field.Path, errs *field.ErrorList) {
	object, _ := value.(map[string]any)
	list, _ := value.([]any)
	if entries := len(object) + len(list); entries > MaxEntries {
		*errs = append(*errs, field.Forbidden(path, fmt.Sprintf("%d entries exceed the limit of %d: remove some", entries, MaxEntries)))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		tooMany(object[key], path.Child(key), errs)
	}
	for i, item := range list {
		tooMany(item, path.Index(i), errs)
	}
}

// withoutDirectives returns the fields of the patch without directives. It rejects null, because the effect of null
// would depend on the client: kubectl apply and Helm drop it before they send the patch. It also rejects keys that look
// like directives but are not directives.
func withoutDirectives(value any, path *field.Path, errs *field.ErrorList) any {
	switch value := value.(type) {
	case map[string]any:
		return fieldsWithoutDirectives(value, path, errs)
	case []any:
		list := make([]any, 0, len(value))
		for i, item := range value {
			list = append(list, withoutDirectives(item, path.Index(i), errs))
		}
		return list
	case nil:
		*errs = append(*errs, field.Forbidden(path,
			"kubectl apply and Helm drop null values: remove the null or, to remove an object, write {$patch: delete}"))
	}
	return value
}

func fieldsWithoutDirectives(value map[string]any, path *field.Path, errs *field.ErrorList) map[string]any {
	fields := make(map[string]any, len(value))
	for _, key := range slices.Sorted(maps.Keys(value)) {
		switch {
		case key == directive && !slices.Contains([]any{remove, "replace", "merge"}, value[key]):
			*errs = append(*errs, field.Forbidden(path.Child(key), "must be delete, replace or merge"))
		case !strings.HasPrefix(key, "$"):
			fields[key] = withoutDirectives(value[key], path.Child(key), errs)
		case !isDirective(key):
			*errs = append(*errs, field.Forbidden(path.Child(key), fmt.Sprintf(
				"%q is not a directive of a strategic merge patch: write $patch: delete or $patch: replace", key)))
		}
	}
	return fields
}

func isDirective(key string) bool {
	return slices.ContainsFunc(directives, func(known string) bool {
		return key == known || strings.HasSuffix(known, "/") && strings.HasPrefix(key, known)
	})
}

// strict compares the fields with those of a pod template.
func strict(fields map[string]any, path *field.Path) field.ErrorList {
	data, err := json.Marshal(fields)
	if err != nil {
		return broken(path, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return broken(path, err)
	}
	_, problems := typecheck.Check(value, reflect.TypeFor[corev1.PodTemplateSpec]())
	var errs field.ErrorList
	for _, problem := range problems {
		errs = append(errs, field.Invalid(path.Child(problem.Path), field.OmitValueType{}, problem.Message))
	}
	return errs
}

// removals changes {$patch: delete} in an object to null. It keeps the directive in an item of a list, because the key
// in this item identifies the item to remove.
func removals(fields map[string]any) {
	for key, value := range fields {
		switch value := value.(type) {
		case map[string]any:
			if value[directive] == remove {
				fields[key] = nil
				continue
			}
			removals(value)
		case []any:
			for _, item := range value {
				if object, ok := item.(map[string]any); ok {
					removals(object)
				}
			}
		}
	}
}
