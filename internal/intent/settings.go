package intent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Settings are what the user patches in the generated configuration, for
// sections of the server that no other field of the spec reaches.
type Settings struct {
	// Values are a JSON merge patch without null, nil when there is none. Numbers
	// are json.Number. To be written in the order of the sorted keys.
	Values map[string]any
	// Path of Values: spec.settings.
	Path *field.Path
	// Removed is taken out before Values are merged in, in written order.
	Removed []RemovedSetting
}

// RemovedSetting is a value to be taken out of the generated configuration.
type RemovedSetting struct {
	// Keys lead to it: server, quota.
	Keys []string
	Path *field.Path
}

// Text is the path as it was written: server.quota.
func (r *RemovedSetting) Text() string { return strings.Join(r.Keys, ".") }

// Decides says whether the settings set a value, or take it out.
func (s *Settings) Decides(keys ...string) bool {
	if slices.ContainsFunc(s.Removed, func(r RemovedSetting) bool {
		return len(r.Keys) <= len(keys) && slices.Equal(r.Keys, keys[:len(r.Keys)])
	}) {
		return true
	}
	var value any = s.Values
	for _, key := range keys {
		object, _ := value.(map[string]any)
		inner, ok := object[key]
		if !ok {
			return false
		}
		value = inner
	}
	return true
}

func decodeSettings(written *apiextensionsv1.JSON, removed []string, path *field.Path) (Settings, field.ErrorList) {
	settings := Settings{Path: path.Child("settings")}
	var all, errs field.ErrorList
	settings.Values, all = decodeValues(written, settings.Path)
	settings.Removed, errs = decodeRemoved(removed, path.Child("removeSettings"))
	return settings, append(all, errs...)
}

// decodeValues reads spec.settings; with an error there are none.
func decodeValues(written *apiextensionsv1.JSON, path *field.Path) (map[string]any, field.ErrorList) {
	if written == nil {
		return nil, nil
	}
	value, err := decodeJSON(written.Raw)
	if err != nil {
		return nil, field.ErrorList{field.TypeInvalid(path, field.OmitValueType{}, "must be an object")}
	}
	values, ok := value.(map[string]any)
	switch {
	case !ok:
		return nil, field.ErrorList{wrongType(path, "an object", value)}
	case len(values) == 0:
		return nil, field.ErrorList{empty(path)}
	case deeper(values, maxDepth):
		return nil, field.ErrorList{field.Forbidden(path, fmt.Sprintf("is nested deeper than %d levels", maxDepth))}
	}
	if errs := append(nulls(values, path, ""), ownedSettings(values, path)...); len(errs) > 0 {
		return nil, errs
	}
	return values, nil
}

// nulls refuses null: a merge patch reads it as "remove", and plain kubectl apply
// and Helm drop it on the way.
func nulls(values map[string]any, path *field.Path, below string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch v := values[key].(type) {
		case nil:
			errs = append(errs, field.Forbidden(path.Child(key), "null removes nothing here: write "+below+key+" into removeSettings"))
		case map[string]any:
			errs = append(errs, nulls(v, path.Child(key), below+key+".")...)
		case []any:
			errs = append(errs, nullsInList(v, path.Child(key))...)
		}
	}
	return errs
}

// nullsInList: no path of removeSettings leads into a list, which a merge patch
// replaces as a whole.
func nullsInList(value any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] == nil {
				errs = append(errs, field.Forbidden(path.Child(key), "null gets lost on the way: leave the key out"))
			}
			errs = append(errs, nullsInList(v[key], path.Child(key))...)
		}
	case []any:
		for i, item := range v {
			errs = append(errs, nullsInList(item, path.Index(i))...)
		}
	}
	return errs
}

func decodeRemoved(written []string, path *field.Path) ([]RemovedSetting, field.ErrorList) {
	var removed []RemovedSetting
	var errs field.ErrorList
	for i, text := range written {
		keys := strings.Split(text, ".")
		if err := ownedRemoval(text, keys, path.Index(i)); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, RemovedSetting{Keys: keys, Path: path.Index(i)})
	}
	return removed, errs
}
