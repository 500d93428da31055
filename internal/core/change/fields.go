package change

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// compare returns the fields that differ between two objects, with the values at known-good places.
func compare(before, after map[string]any) []Field {
	c := comparison{opaque: after["kind"] == "ConfigMap" || after["kind"] == "Secret"}
	c.maps("", redact.Root(), unnamed(before), unnamed(after))
	return c.found
}

type comparison struct {
	found []Field
	// opaque reports whether the object is a ConfigMap or Secret. The data of these objects consists of files, and only
	// the length of a file is shown, because a short secret can be guessed from a digest.
	opaque bool
}

func (c *comparison) values(path string, at redact.Place, a, b any) {
	if reflect.DeepEqual(a, b) {
		return
	}
	before, isMap := a.(map[string]any)
	after, alsoMap := b.(map[string]any)
	if isMap && alsoMap {
		c.maps(path, at, before, after)
		return
	}
	old, isList := a.([]any)
	now, alsoList := b.([]any)
	if isList && alsoList && keyed(old) && keyed(now) {
		c.lists(path, at, old, now)
		return
	}
	from, to := c.text(path, at, a), c.text(path, at, b)
	if from == to {
		from, to = from+" (before)", to+" (after)"
	}
	c.found = append(c.found, Field{Path: redact.Text(path), From: from, To: to})
}

func (c *comparison) maps(path string, at redact.Place, a, b map[string]any) {
	keys := maps.Clone(a)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, b)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c.values(rollout.Join(path, key), at.At(key), a[key], b[key])
	}
}

// lists compares the entries that have the same key in two lists.
func (c *comparison) lists(path string, at redact.Place, a, b []any) {
	before, after := byKey(a), byKey(b)
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c.values(path+"["+key+"]", at.Item(cmp.Or(after[key], before[key])), before[key], after[key])
	}
}

// text returns the part of a value that is shown, or the summary of a file.
func (c *comparison) text(path string, at redact.Place, value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		if c.opaque && fileOf(path) {
			return summary(value)
		}
		return fmt.Sprint(at.Value(value))
	}
	var data strings.Builder
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(redactTree(at, value, nil, "")); err != nil {
		return "?"
	}
	return strings.TrimSuffix(data.String(), "\n")
}

// fileOf reports whether a path is within the data of a ConfigMap or Secret.
func fileOf(path string) bool {
	top, _, _ := strings.Cut(path, ".")
	top, _, _ = strings.Cut(top, "[")
	return top == "data" || top == "binaryData" || top == "stringData"
}

// summary returns the length of a text.
func summary(text string) string { return fmt.Sprintf("%d bytes", len(text)) }

// redactTree returns a copy of a value with the text at known-good places. It adds the given mark to each withheld text
// that differs from the text on the other side.
func redactTree(at redact.Place, value, other any, mark string) any {
	switch value := value.(type) {
	case map[string]any:
		others, _ := other.(map[string]any)
		copied := make(map[string]any, len(value))
		for key, item := range value {
			copied[key] = redactTree(at.At(key), item, others[key], mark)
		}
		return copied
	case []any:
		list, _ := other.([]any)
		others := byKey(list)
		copied := make([]any, 0, len(value))
		for i, item := range value {
			key := itemKey(item, i)
			copied = append(copied, redactTree(at.Item(item), item, others[key], mark))
		}
		return copied
	}
	shown := at.Value(value)
	if text, ok := shown.(string); ok && other != nil && value != other && shown != value {
		return text + mark
	}
	return shown
}

// identities are the fields that identify the entries of a list. The name of a mount is not unique, so mountPath comes
// before name.
var identities = []string{
	"mountPath", "name", "containerPort", "port", "key", "provider_id", "model_id", "shield_id",
	"toolgroup_id",
}

// itemKey returns the key of an entry: its identity, or its position.
func itemKey(item any, i int) string {
	fields, _ := item.(map[string]any)
	for _, identity := range identities {
		if value, ok := fields[identity]; ok {
			return fmt.Sprint(value)
		}
	}
	return strconv.Itoa(i)
}

// keyed reports whether all entries of a list are objects, whose identities can be compared.
func keyed(items []any) bool {
	return !slices.ContainsFunc(items, func(item any) bool {
		_, ok := item.(map[string]any)
		return !ok
	})
}

// byKey returns a map from keys to the entries of a list. If an earlier entry has the same key, byKey adds the position
// to the key.
func byKey(items []any) map[string]any {
	found := make(map[string]any, len(items))
	for i, item := range items {
		key := itemKey(item, i)
		if _, taken := found[key]; taken {
			key += "#" + strconv.Itoa(i)
		}
		found[key] = item
	}
	return found
}

// unnamed returns an object without metadata.name, because Object.Was shows a change to the name.
func unnamed(object map[string]any) map[string]any {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return object
	}
	copied := maps.Clone(object)
	metadata = maps.Clone(metadata)
	delete(metadata, "name")
	copied["metadata"] = metadata
	return copied
}

// redactBoth returns two redacted values. It adds a mark to values that differ only in their redacted parts.
func redactBoth(path, from, to string) (before, after string) {
	before, after = redact.Setting(path, from), redact.Setting(path, to)
	if before == after && from != to {
		return before + " (before)", after + " (after)"
	}
	return before, after
}
