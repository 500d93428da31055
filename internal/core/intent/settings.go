package intent

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Settings are the user's patch for the generated configuration. The patch is for sections that no other field of the
// spec sets.
type Settings struct {
	// Values are a JSON merge patch in which no key has the value null. Nil means that there is no patch. Numbers are
	// json.Number. The keys are written in sorted order.
	Values map[string]any
	// Path is the field path of Values: spec.settings.
	Path *field.Path
	// Removed lists, in the order of the spec, the values that are removed before Values are merged.
	Removed []RemovedSetting
}

// RemovedSetting selects a value to remove from the generated configuration.
type RemovedSetting struct {
	// Keys are the keys of the value's path, for example server and quota.
	Keys []string
	Path *field.Path
}

// Text returns the path as written, for example server.quota.
func (r *RemovedSetting) Text() string { return strings.Join(r.Keys, ".") }

// Decides reports whether the settings set or remove the value at a path.
func (s *Settings) Decides(keys ...string) bool {
	if slices.ContainsFunc(s.Removed, func(r RemovedSetting) bool {
		return len(r.Keys) <= len(keys) && slices.Equal(r.Keys, keys[:len(r.Keys)])
	}) {
		return true
	}
	_, given, err := unstructured.NestedFieldNoCopy(s.Values, keys...)
	return given && err == nil
}

func decodeSettings(written *apiextensionsv1.JSON, removed []string, path *field.Path, errs *Errors) Settings {
	settings := Settings{Path: path.Child("settings")}
	settings.Values = decodeValues(written, settings.Path, errs)
	settings.Removed = decodeRemoved(removed, path.Child("removeSettings"), errs)
	return settings
}

// decodeValues reads spec.settings. If there is an error, it returns no values.
func decodeValues(written *apiextensionsv1.JSON, path *field.Path, errs *Errors) map[string]any {
	if written == nil {
		return nil
	}
	before := len(*errs)
	value, err := decodeJSON(written.Raw)
	values, ok := value.(map[string]any)
	switch {
	case err != nil:
		errs.Add(field.TypeInvalid(path, field.OmitValueType{}, "must be an object"))
	case !ok:
		errs.Add(wrongType(path, "an object", value))
	case len(values) == 0:
		errs.Empty(path)
	case deeper(values, maxDepth):
		errs.Forbidden(path, "is nested more than %d levels deep; reduce the nesting", maxDepth)
	default:
		nulls(values, path, "", errs)
		errs.Add(ownedSettings(values, path)...)
	}
	if len(*errs) > before {
		return nil
	}
	return values
}

// nulls rejects null. In a merge patch, null removes a value, but kubectl apply and Helm drop null before the object is
// stored.
func nulls(values map[string]any, path *field.Path, below string, errs *Errors) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch v := values[key].(type) {
		case nil:
			errs.Forbidden(path.Child(key), "null does not remove a setting: add %s to removeSettings", below+key)
		case map[string]any:
			nulls(v, path.Child(key), below+key+".", errs)
		case []any:
			nullsInList(v, path.Child(key), errs)
		}
	}
}

// nullsInList rejects null as the value of a key in an object inside a list. The error does not suggest removeSettings,
// because its paths cannot select a part of a list.
func nullsInList(value any, path *field.Path, errs *Errors) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] == nil {
				errs.Forbidden(path.Child(key), "kubectl and Helm drop null values before the object is stored: remove the key")
			}
			nullsInList(v[key], path.Child(key), errs)
		}
	case []any:
		for i, item := range v {
			nullsInList(item, path.Index(i), errs)
		}
	}
}

func decodeRemoved(written []string, path *field.Path, errs *Errors) []RemovedSetting {
	var removed []RemovedSetting
	for i, text := range written {
		keys := strings.Split(text, ".")
		if err := ownedRemoval(text, keys, path.Index(i)); err != nil {
			errs.Add(err)
			continue
		}
		removed = append(removed, RemovedSetting{Keys: keys, Path: path.Index(i)})
	}
	return removed
}
