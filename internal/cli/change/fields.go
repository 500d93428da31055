package change

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// compare lists the fields that differ between two objects, without credentials.
func compare(before, after map[string]any) []Field {
	c := comparison{opaque: after["kind"] == "ConfigMap" || after["kind"] == "Secret"}
	c.maps("", unnamed(before), unnamed(after))
	return c.found
}

type comparison struct {
	found []Field
	// opaque reports whether the texts below data are files, which are shown by their length and digest.
	opaque bool
}

func (c *comparison) values(path string, a, b any) {
	if reflect.DeepEqual(a, b) {
		return
	}
	before, isMap := a.(map[string]any)
	after, alsoMap := b.(map[string]any)
	if isMap && alsoMap {
		c.maps(path, before, after)
		return
	}
	old, isList := a.([]any)
	now, alsoList := b.([]any)
	if isList && alsoList && keyed(old) && keyed(now) {
		c.lists(path, old, now)
		return
	}
	from, to := c.text(path, a), c.text(path, b)
	if from == to {
		from, to = from+" (before)", to+" (after)"
	}
	c.found = append(c.found, Field{Path: RedactPath(path), From: from, To: to})
}

func (c *comparison) maps(path string, a, b map[string]any) {
	keys := maps.Clone(a)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, b)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c.values(join(path, key), a[key], b[key])
	}
}

// lists compares the entries with the same key.
func (c *comparison) lists(path string, a, b []any) {
	before, after := byKey(a), byKey(b)
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c.values(path+"["+key+"]", before[key], after[key])
	}
}

// text returns a value without its credentials. A file is shown by its length and digest.
func (c *comparison) text(path string, value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		if c.opaque && fileOf(path) {
			return summary(value)
		}
		return Redact(path, value)
	}
	data, err := json.Marshal(redactTree(path, value, nil, ""))
	if err != nil {
		return "?"
	}
	return string(data)
}

func fileOf(path string) bool {
	top, _, _ := strings.Cut(path, ".")
	top, _, _ = strings.Cut(top, "[")
	return top == "data" || top == "binaryData" || top == "stringData"
}

func summary(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%d bytes, sha256:%s", len(text), hex.EncodeToString(sum[:])[:12])
}

// redactTree returns a copy of a value without its credentials. Credentials that differ from those of the other side
// get the mark.
func redactTree(path string, value, other any, mark string) any {
	switch value := value.(type) {
	case map[string]any:
		others, _ := other.(map[string]any)
		copied := make(map[string]any, len(value))
		for key, item := range value {
			copied[key] = redactTree(join(path, key), item, others[key], mark)
		}
		return copied
	case []any:
		list, _ := other.([]any)
		others := byKey(list)
		copied := make([]any, 0, len(value))
		for i, item := range value {
			key := itemKey(item, i)
			copied = append(copied, redactTree(path+"["+key+"]", item, others[key], mark))
		}
		return copied
	case string:
		redacted := Redact(path, value)
		if text, ok := other.(string); ok && text != value && redacted != value {
			redacted += mark
		}
		return redacted
	default:
		return value
	}
}

// identities are the keys that identify the entries of a list. The names of mounts are not unique, so their paths come
// first.
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

// keyed reports whether all entries of a list have fields, so that they are compared one by one.
func keyed(items []any) bool {
	return !slices.ContainsFunc(items, func(item any) bool {
		_, ok := item.(map[string]any)
		return !ok
	})
}

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

func join(path, key string) string {
	switch {
	case path == "":
		return key
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	default:
		return path + "." + key
	}
}

// unnamed returns an object without the name in its metadata, which is that of the list of objects.
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
