package apply

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// InForce reports whether an apply of `wanted` by the manager would leave the live object unchanged: the manager owns
// exactly the fields of `wanted`, and each field has the value in `wanted`. If another client changes a field, the
// manager no longer owns it, so InForce detects the change. If `wanted` no longer contains a field, the manager still
// owns it, so InForce detects this too. A restart causes no write, because the object stores the managed fields
// (decision 0019).
func InForce(wanted, live *unstructured.Unstructured, manager string) bool {
	owned := ownedFields(live, live.GetAPIVersion(), manager)
	if owned == nil {
		return false
	}
	return compare(owned, withoutIdentity(wanted.Object), live.Object)
}

// withoutIdentity removes the fields that managed fields never contain.
func withoutIdentity(object map[string]any) map[string]any {
	fields := maps.Clone(object)
	delete(fields, "apiVersion")
	delete(fields, "kind")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
			delete(metadata, name)
		}
		fields["metadata"] = metadata
	}
	return fields
}

// compare reports whether `live` has every value in `wanted`, and whether the manager owns exactly the fields of
// `wanted`. The owned set distinguishes keyed lists from atomic lists.
func compare(owned *fieldpath.Set, wanted, live any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, ok := live.(map[string]any)
		return ok && compareFields(owned, wanted, fields)
	case []any:
		items, ok := live.([]any)
		return ok && compareItems(owned, wanted, items)
	default:
		return equal(wanted, live)
	}
}

func compareFields(owned *fieldpath.Set, wanted, live map[string]any) bool {
	for name, field := range wanted {
		element := fieldpath.PathElement{FieldName: new(name)}
		children, nested := owned.Children.Get(element)
		switch {
		case nested:
			if !compare(children, field, live[name]) {
				return false
			}
		case owned.Members.Has(element):
			if !equal(field, live[name]) {
				return false
			}
		case !isZero(field) || !isZero(live[name]):
			return false // the API server drops empty values; the manager must own any other value
		}
	}
	for _, element := range elements(owned) {
		if element.FieldName == nil {
			return false
		}
		if _, ok := wanted[*element.FieldName]; !ok {
			return false
		}
	}
	return true
}

// compareItems reports whether the owned and the wanted items are the same and in the same order. The order matters
// because environment variables may refer to earlier ones.
func compareItems(owned *fieldpath.Set, wanted, live []any) bool {
	all := elements(owned)
	last := -1
	for i, item := range wanted {
		at := slices.IndexFunc(all, func(element fieldpath.PathElement) bool { return denotes(element, i, item) })
		if at < 0 {
			return false
		}
		position := find(all[at], live)
		if position <= last {
			return false
		}
		if children, nested := owned.Children.Get(all[at]); nested && !compare(children, item, live[position]) {
			return false
		}
		last = position
	}
	return len(wanted) == len(all)
}

// find returns the index of the item that the path element identifies, or -1 if there is none.
func find(element fieldpath.PathElement, items []any) int {
	for i, item := range items {
		if denotes(element, i, item) {
			return i
		}
	}
	return -1
}

// denotes reports whether the path element identifies the list item. A key field that is missing from the item matches
// any value, because the API server sets its default.
func denotes(element fieldpath.PathElement, index int, item any) bool {
	switch {
	case element.Key != nil:
		fields, ok := item.(map[string]any)
		if !ok {
			return false
		}
		return !slices.ContainsFunc(*element.Key, func(key value.Field) bool {
			given, ok := fields[key.Name]
			return ok && !equal(given, key.Value.Unstructured())
		})
	case element.Value != nil:
		return equal(item, (*element.Value).Unstructured())
	case element.Index != nil:
		return *element.Index == index
	default:
		return false
	}
}

// elements returns the distinct path elements at the top level of the set.
func elements(set *fieldpath.Set) []fieldpath.PathElement {
	var distinct fieldpath.PathElementSet
	set.Members.Iterate(distinct.Insert)
	set.Children.Iterate(distinct.Insert)
	return slices.Collect(distinct.All())
}

// equal compares JSON values. It treats missing and zero values as equal. It ignores the types of numbers, and the
// apiVersion that the API server adds to fieldRef.
func equal(wanted, live any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, _ := live.(map[string]any)
		return (fields != nil || live == nil) && equalFields(wanted, fields)
	case []any:
		items, ok := live.([]any)
		return ok && slices.EqualFunc(wanted, items, equal) || live == nil && len(wanted) == 0
	default:
		return wanted == live || isZero(wanted) && isZero(live) ||
			value.Equals(value.NewValueInterface(wanted), value.NewValueInterface(live))
	}
}

func equalFields(wanted, live map[string]any) bool {
	for name, field := range live {
		defaulted := name == "apiVersion" && wanted["fieldPath"] != nil && wanted["apiVersion"] == nil
		if !defaulted && !equal(wanted[name], field) {
			return false
		}
	}
	for name, field := range wanted {
		if _, ok := live[name]; !ok && !isZero(field) {
			return false
		}
	}
	return true
}

func isZero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == nil || reflect.ValueOf(v).IsZero()
	}
}
