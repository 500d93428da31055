package bounds

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// commands returns errors for the commands in a patch for the pod template, and for the containers that the patch adds,
// because their images run commands too. Package validate reports an invalid patch.
func commands(patch []byte, path *field.Path) field.ErrorList {
	var root struct {
		Spec struct {
			Containers     []map[string]any `json:"containers"`
			InitContainers []map[string]any `json:"initContainers"`
		} `json:"spec"`
	}
	if json.Unmarshal(patch, &root) != nil {
		return nil
	}
	var errs field.ErrorList
	for _, list := range []struct {
		name       string
		containers []map[string]any
	}{{"initContainers", root.Spec.InitContainers}, {"containers", root.Spec.Containers}} {
		for i, container := range list.containers {
			at := path.Child("spec", list.name).Index(i)
			if _, added := container["image"]; added {
				errs = append(errs, field.Forbidden(at, "additional containers are not allowed in this namespace: remove this container, or "+remedy))
				continue
			}
			errs = append(errs, commandsIn(container, at)...)
		}
	}
	return errs
}

// commandsIn returns errors for commands in a container, its probes and its lifecycle hooks.
func commandsIn(fields map[string]any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		at, name := path.Child(key), key
		if strings.HasPrefix(key, "$") { // $deleteFromPrimitiveList/command changes the command
			_, name, _ = strings.Cut(key, "/")
		}
		if name == "command" || name == "args" {
			errs = append(errs, field.Forbidden(at, "is not allowed in this namespace: remove this field, or "+remedy))
			continue
		}
		if below, ok := fields[key].(map[string]any); ok {
			errs = append(errs, commandsIn(below, at)...)
		}
	}
	return errs
}
