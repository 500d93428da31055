package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Changes returns the values in which an object differs from a base, one line for each value: "- path: value" for a
// value in the base, and "+ path: value" for a value in the object. It returns nothing for equal objects. A golden file
// with these lines shows only the subject of a case, and does not change when an unrelated part of the base changes.
//
// A path identifies an item of a list by the item's value for one key. This is the first key in the variable
// `identifying` that has a different value in each item. Without such a key, the path contains the item's index. If a
// list does not begin with the items that it shares with the base, in the order of the base, a line "+ path: order"
// lists all items of the list.
func Changes(base, object map[string]any) []byte {
	var out bytes.Buffer
	before, after := leaves(base), leaves(object)
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if value := before[path]; after[path] != value {
			fmt.Fprintf(&out, "- %s: %s\n", path, value)
		}
	}
	orders := map[string]string{}
	compareOrder(orders, "", base, object)
	for _, path := range slices.Sorted(maps.Keys(orders)) {
		fmt.Fprintf(&out, "+ %s: order %s\n", path, orders[path])
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if value := after[path]; before[path] != value {
			fmt.Fprintf(&out, "+ %s: %s\n", path, value)
		}
	}
	return out.Bytes()
}

// leaves returns the text of each scalar and of each empty map or list, keyed by its path.
func leaves(object map[string]any) map[string]string {
	found := map[string]string{}
	collect(found, "", object)
	return found
}

func collect(found map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, each := range value {
			collect(found, child(path, key), each)
		}
		if len(value) == 0 {
			found[path] = "{}"
		}
	case []any:
		names := itemNames(value)
		for i, each := range value {
			collect(found, path+"["+names[i]+"]", each)
		}
		if len(value) == 0 {
			found[path] = "[]"
		}
	default:
		found[path] = scalar(value)
	}
}

// child returns the path of a key. A key with a dot is in brackets.
func child(path, key string) string {
	switch {
	case strings.Contains(key, "."):
		return path + "[" + key + "]"
	case path == "":
		return key
	default:
		return path + "." + key
	}
}

// scalar returns a value as JSON, or as an indented block if the value is a string with several lines.
func scalar(value any) string {
	text, ok := value.(string)
	if ok && strings.Contains(text, "\n") {
		return "|\n    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%v", value)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// identifying lists the keys that can identify an item of a list, in the order in which itemNames tries them.
var identifying = []string{"name", "mountPath", "topologyKey", "key"}

// itemNames returns the name of each item: the value of the first identifying key that every item has and whose values
// are all different, or the index if there is no such key.
func itemNames(list []any) []string {
	for _, key := range identifying {
		names := make([]string, 0, len(list))
		for _, item := range list {
			fields, _ := item.(map[string]any)
			if name, ok := fields[key].(string); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) == len(list) {
			return names
		}
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = fmt.Sprint(i)
	}
	return names
}

// compareOrder records each list that does not begin with the items that it shares with the base, in the order of the
// base.
func compareOrder(orders map[string]string, path string, base, object any) {
	switch object := object.(type) {
	case map[string]any:
		fields, _ := base.(map[string]any)
		for key, each := range object {
			compareOrder(orders, child(path, key), fields[key], each)
		}
	case []any:
		list, _ := base.([]any)
		before, after := itemNames(list), itemNames(object)
		expected := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return !slices.Contains(after, name) })
		if !slices.Equal(expected, after[:min(len(expected), len(after))]) {
			orders[path] = "[" + strings.Join(after, " ") + "]"
		}
		for i, each := range object {
			if at := slices.Index(before, after[i]); at >= 0 {
				compareOrder(orders, path+"["+after[i]+"]", list[at], each)
			}
		}
	}
}
