package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var dottedForm = regexp.MustCompile(`^[^.[:space:]]+([.][^.[:space:]]+)*$`)

const (
	maxRemoved       = 64
	maxRemovedLength = 256
)

// typedSettings are paths of the generated configuration that a field of the
// spec sets, with that field.
var typedSettings = map[string]string{
	"apis":                 "providers or disabled",
	"providers":            "providers",
	"models":               "resources.models",
	"shields":              "resources.shields",
	"tool_groups":          "resources.tools",
	"connectors":           "resources.tools",
	"registered_resources": "resources",
	"storage":              "storage",
	"metadata_store":       "storage",
	"inference_store":      "storage",
	"conversations_store":  "storage",
	"server.port":          "networking.port",
	"server.workers":       "workload.workers",
	"server.tls_certfile":  "networking.tls",
	"server.tls_keyfile":   "networking.tls",
}

// settingsOf are the settings as an object; nil when there are none or they are
// something else.
func settingsOf(obj *object) map[string]any {
	if obj.Spec.Settings == nil {
		return nil
	}
	var settings map[string]any
	if json.Unmarshal(obj.Spec.Settings.Raw, &settings) != nil {
		return nil
	}
	return settings
}

func settingsObject(obj *object) field.ErrorList {
	switch {
	case obj.Spec.Settings == nil || len(settingsOf(obj)) > 0:
		return nil
	case settingsOf(obj) == nil:
		return field.ErrorList{field.TypeInvalid(spec("settings"), field.OmitValueType{}, "must be an object")}
	default:
		return field.ErrorList{field.Required(spec("settings"), "must not be empty; leave the field out to have the default")}
	}
}

// settingsNull refuses null: a merge patch reads it as "remove", and plain
// kubectl apply and Helm drop it on the way.
func settingsNull(obj *object) field.ErrorList {
	var errs field.ErrorList
	for _, path := range nulls(settingsOf(obj), "") {
		errs = append(errs, field.Forbidden(field.NewPath("spec.settings"+path),
			"null removes nothing here: write "+strings.TrimPrefix(path, ".")+" into removeSettings"))
	}
	return errs
}

// nulls are the paths of every null below a value, sorted.
func nulls(value any, path string) []string {
	var found []string
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] == nil {
				found = append(found, path+"."+key)
				continue
			}
			found = append(found, nulls(v[key], path+"."+key)...)
		}
	case []any:
		for i, item := range v {
			if item != nil {
				found = append(found, nulls(item, fmt.Sprintf("%s[%d]", path, i))...)
			}
		}
	}
	return found
}

func settingsFields(obj *object) field.ErrorList {
	settings := settingsOf(obj)
	var errs field.ErrorList
	for _, path := range slices.Sorted(maps.Keys(typedSettings)) {
		if within(settings, strings.Split(path, ".")) {
			errs = append(errs, field.Forbidden(field.NewPath("spec.settings."+path), "set spec."+typedSettings[path]+" instead"))
		}
	}
	return errs
}

func within(settings map[string]any, path []string) bool {
	value, ok := settings[path[0]]
	if !ok || len(path) == 1 {
		return ok
	}
	below, _ := value.(map[string]any)
	return within(below, path[1:])
}

func removeSettingsPath(obj *object) field.ErrorList {
	path := spec("removeSettings")
	removed := obj.Spec.RemoveSettings
	errs := atMost(path, len(removed), maxRemoved)
	if removed != nil && len(removed) == 0 {
		errs = append(errs, field.Required(path, "must not be empty; leave the field out to have the default"))
	}
	for i, text := range removed {
		switch {
		case len(text) > maxRemovedLength || !dottedForm.MatchString(text):
			errs = append(errs, field.Invalid(path.Index(i), text,
				fmt.Sprintf(`%q is not a dotted path: write one like server.quota`, text)))
		case slices.Contains(removed[:i], text):
			errs = append(errs, field.Duplicate(path.Index(i), text))
		}
	}
	return errs
}
