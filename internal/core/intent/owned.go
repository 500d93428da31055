package intent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// owned is a part of the configuration that settings must not change, because a field of the spec sets it or because
// the change would make the server fail.
type owned struct {
	// path is the path of the part. * stands for any key.
	path string
	// The field `instead` contains the remedy if settings set the part. The field `removal` contains the remedy, or the
	// reason and the remedy, if removeSettings removes the part.
	instead, removal string
}

const (
	resourcesInstead = "set spec.resources instead; for a resource that has no field there, use your own base configuration (spec.baseConfig)"
	baseRemoval      = "set spec.baseConfig to a base configuration that does not contain this value"
	nameInstead      = "the name of the distribution cannot be changed here: remove this setting"
)

// ownedParts lists the owned parts of the configuration for the servers of all releases. It does not list these parts,
// which no field of the spec sets: the sections telemetry, logging, vector_stores, safety, external_providers_dir and
// external_apis_dir. In the server section, it does not list host, auth, quota, cors, tenancy, tls_config, hsts_max_age
// or the interval of the registry. In the storage section, it does not list the settings that tune a store.
var ownedParts = []owned{
	{"version", "only the base configuration can set this value: remove this setting", baseRemoval},
	{"distro_name", nameInstead, "the server needs the name of its distribution; remove the entry"},
	{"image_name", nameInstead, "the server needs the name of its distribution; remove the entry"},
	{"container_image", "set spec.distribution instead", baseRemoval},
	{"apis", "set spec.providers or spec.disabled instead", "list unwanted APIs and providers in spec.disabled"},
	{"providers", "set spec.providers instead", "list unwanted APIs and providers in spec.disabled"},
	{"registered_resources", resourcesInstead, baseRemoval},
	{"models", resourcesInstead, baseRemoval},
	{"shields", resourcesInstead, baseRemoval},
	{"tool_groups", resourcesInstead, baseRemoval},
	{"connectors", "set spec.resources.tools instead", baseRemoval},
	{"vector_dbs", resourcesInstead, baseRemoval},
	{"datasets", resourcesInstead, baseRemoval},
	{"scoring_fns", resourcesInstead, baseRemoval},
	{"benchmarks", resourcesInstead, baseRemoval},
	{"metadata_store", "set spec.storage instead", "spec.storage sets this value; remove the entry"},
	{"inference_store", "set spec.storage instead", "spec.storage sets this value; remove the entry"},
	{"conversations_store", "set spec.storage instead", "spec.storage sets this value; remove the entry"},
	{"storage.backends", "set spec.storage instead", "spec.storage sets this value; remove the entry"},
	// The operator determines the location of the registry, and the pods update the contents of the registry before each
	// start of the server.
	{"storage.stores.metadata", "the operator determines the location of the registry: remove this setting", "the server needs its registry; remove the entry"},
	{"storage.stores.*.backend", "set spec.storage instead", "spec.storage sets this value; remove the entry"},
	{"server.port", "set spec.networking.port instead", "spec.networking.port sets this value; remove the entry"},
	{"server.workers", "set spec.workload.workers instead", "spec.workload.workers sets this value; remove the entry"},
	{"server.tls_certfile", "set spec.networking.tls instead", "spec.networking.tls sets this value; remove the entry"},
	{"server.tls_keyfile", "set spec.networking.tls instead", "spec.networking.tls sets this value; remove the entry"},
	{"server.insecure", "spec.networking.tls determines this value: remove this setting", "spec.networking.tls determines this value; remove the entry"},
	// With this setting, every client needs a certificate, and the kubelet has no certificate (server fact 30).
	{
		"server.tls_cafile", "the pod's probes have no client certificate, so the pod would never be ready: " +
			"remove this setting, and require client certificates in a proxy in front of the Service", baseRemoval,
	},
}

// ownedSettings returns an error with a remedy for each setting of an owned part, sorted by path.
func ownedSettings(values map[string]any, path *field.Path) field.ErrorList {
	found := make(map[string]*field.Error)
	for i := range ownedParts {
		ownedParts[i].findIn(values, strings.Split(ownedParts[i].path, "."), path, found)
	}
	var errs field.ErrorList
	for _, at := range slices.Sorted(maps.Keys(found)) {
		errs = append(errs, found[at])
	}
	return errs
}

// findIn adds an error for each place in the values at which settings set the part. It also adds an error where the
// path requires an object and settings contain a different value, because that value would replace the object.
func (o *owned) findIn(value any, path []string, at *field.Path, found map[string]*field.Error) {
	object, ok := value.(map[string]any)
	if !ok {
		err := wrongType(at, "an object (another field sets part of it)", value)
		found[at.String()] = err
		return
	}
	if path[0] != "*" {
		if _, given := object[path[0]]; given {
			o.findAt(object, path[0], path[1:], at, found)
		}
		return
	}
	for key := range object {
		o.findAt(object, key, path[1:], at, found)
	}
}

func (o *owned) findAt(
	object map[string]any, key string, rest []string, at *field.Path, found map[string]*field.Error,
) {
	at = at.Child(key)
	if len(rest) == 0 {
		found[at.String()] = field.Forbidden(at, o.instead)
		return
	}
	o.findIn(object[key], rest, at, found)
}

// ownedRemoval rejects the removal of an owned part, of any value in that part, and of a section that contains the
// part. It returns nil for any other path.
func ownedRemoval(text string, keys []string, path *field.Path) *field.Error {
	for i := range ownedParts {
		part := strings.Split(ownedParts[i].path, ".")
		if !overlap(keys, part) {
			continue
		}
		if len(keys) < len(part) {
			return field.Forbidden(path, fmt.Sprintf("%q contains %s, which cannot be removed here: instead, list the parts that you want to remove",
				text, ownedParts[i].path))
		}
		return field.Forbidden(path, fmt.Sprintf("%q cannot be removed here: %s", text, ownedParts[i].removal))
	}
	return nil
}

// Owned returns the remedy for a part of the configuration that settings must not change, or an empty string if
// settings may change the part. The result `holds` reports whether the part contains an owned part.
func Owned(keys ...string) (instead string, holds bool) {
	for i := range ownedParts {
		part := strings.Split(ownedParts[i].path, ".")
		switch {
		case !overlap(keys, part):
		case len(keys) >= len(part):
			return ownedParts[i].instead, false
		default:
			holds = true
		}
	}
	return "", holds
}

// overlap reports whether one of two paths is a prefix of the other. A * in b matches any key.
func overlap(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && b[i] != "*" {
			return false
		}
	}
	return true
}
