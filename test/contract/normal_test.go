package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// flat contains the leaves of an object, keyed by path. The path of a list item contains the name of the item, if it
// has one, instead of its index, so that the order of the items is not compared. A list of plain values is one leaf.
type flat map[string]string

// byName maps each list whose items have a name to the field that contains the name.
var byName = map[string]string{
	"containers": "name", "initContainers": "name", "env": "name", "volumes": "name", "volumeMounts": "mountPath",
	"ports": "port", "containerPorts": "containerPort", "topologySpreadConstraints": "topologyKey", "items": "key",
}

func flatten(object map[string]any) flat {
	result := make(flat)
	result.add("", "", object)
	return result
}

func (f flat) add(at, field string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			f[at] = "{}"
		}
		for key, inner := range v {
			f.add(strings.TrimPrefix(at+"."+key, "."), key, inner)
		}
	case []any:
		if len(v) == 0 || !isObject(v[0]) {
			f[at] = text(v)
			return
		}
		for i, item := range v {
			f.add(fmt.Sprintf("%s[%s]", at, itemName(field, i, item)), "", item)
		}
	default:
		f[at] = text(v)
		if field == "mountPath" {
			f[at] = path.Clean(text(v))
		}
	}
}

func isObject(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}

func itemName(list string, i int, item any) string {
	fields, _ := item.(map[string]any)
	for _, key := range []string{byName[list], byName["containerPorts"]} {
		switch name := fields[key].(type) {
		case string:
			if key == "mountPath" {
				return path.Clean(name)
			}
			return name
		case float64, int64:
			return text(name)
		}
	}
	return fmt.Sprint(i)
}

// text returns a value as one line of text.
func text(value any) string {
	if plain, ok := value.(string); ok {
		return plain
	}
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // a value that was read from YAML can be encoded
	}
	return string(data)
}

// defaults are the values that an API server adds to an object without them, keyed by kind and path. `*` matches any
// item.
var defaults = map[string]flat{
	"Deployment": {
		"spec.template.spec.dnsPolicy":                                     "ClusterFirst",
		"spec.template.spec.restartPolicy":                                 "Always",
		"spec.template.spec.schedulerName":                                 "default-scheduler",
		"spec.template.spec.terminationGracePeriodSeconds":                 "30",
		"spec.template.spec.securityContext":                               "{}",
		"spec.template.spec.containers[*].terminationMessagePath":          "/dev/termination-log",
		"spec.template.spec.containers[*].terminationMessagePolicy":        "File",
		"spec.template.spec.containers[*].resources":                       "{}",
		"spec.template.spec.containers[*].ports[*].protocol":               "TCP",
		"spec.template.spec.containers[*].env[*].value":                    "",
		"spec.template.spec.containers[*].startupProbe.successThreshold":   "1",
		"spec.template.spec.containers[*].readinessProbe.successThreshold": "1",
		"spec.template.spec.containers[*].livenessProbe.successThreshold":  "1",
		"spec.template.spec.volumes[*].configMap.defaultMode":              "420",
	},
	"Service": {
		"spec.internalTrafficPolicy": "Cluster", "spec.ipFamilies": `["IPv4"]`, "spec.ipFamilyPolicy": "SingleStack",
		"spec.sessionAffinity": "None", "spec.type": "ClusterIP",
	},
	"PersistentVolumeClaim": {"spec.volumeMode": "Filesystem"},
}

// dropDefaults removes the API server's defaults from an object: the default pull policies, and the defaults of other
// fields, if the fields are missing from this operator's object.
func (f flat) dropDefaults(kind string, ours flat) {
	for p, value := range f {
		if container, ok := strings.CutSuffix(p, ".imagePullPolicy"); ok && value == pullPolicy(f[container+".image"]) {
			delete(f, p)
		}
		for pattern, added := range defaults[kind] {
			if _, said := ours[p]; !said && value == added && like(pattern, p) {
				delete(f, p)
			}
		}
	}
}

// pullPolicy returns the API server's default for the pull policy of an image, which depends on the tag.
func pullPolicy(image string) string {
	if strings.HasSuffix(image, ":latest") {
		return "Always"
	}
	return "IfNotPresent"
}

// noise lists fields that are not compared. An object outside a cluster has no owner and no namespace, and
// serviceAccount is the older name of serviceAccountName.
var noise = []string{
	"apiVersion", "kind", "metadata.ownerReferences*", "metadata.namespace",
	"spec.template.spec.serviceAccount",
}

func (f flat) dropNoise() {
	for p := range f {
		if slices.ContainsFunc(noise, func(pattern string) bool { return like(pattern, p) }) {
			delete(f, p)
		}
	}
}

// like reports whether a string matches a pattern in which `*` matches any string.
func like(pattern, value string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(value)
}

var contentHash = regexp.MustCompile(`-[0-9a-f]{8}$`)

// role returns the kind of an object, and its name with a placeholder for the name of the stack.
func role(object map[string]any, stacks []string) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	stacks = slices.Clone(stacks)
	slices.SortFunc(stacks, func(a, b string) int { return len(b) - len(a) })
	for _, stack := range stacks {
		if rest, ok := strings.CutPrefix(name, stack); ok {
			return fmt.Sprintf("%s <cr>%s", object["kind"], contentHash.ReplaceAllString(rest, "-<hash>"))
		}
	}
	return fmt.Sprintf("%s %s", object["kind"], name)
}

// difference is one leaf that differs. If an object exists on only one side, there is one difference with an empty
// path.
type difference struct {
	Manifest, Object, Path, Today, Ours string
}

const (
	absent  = "-"
	present = "an object"
)

// compare returns the differences between two sets of objects.
func compare(manifest string, stacks []string, today, ours []map[string]any) []difference {
	then, now := index(today), index(ours)
	var found []difference
	for _, key := range slices.Sorted(maps.Keys(union(then, now))) {
		was, before := then[key]
		is, after := now[key]
		switch {
		case !before:
			found = append(found, difference{manifest, role(is, stacks), "", absent, present})
		case !after:
			found = append(found, difference{manifest, role(was, stacks), "", present, absent})
		default:
			found = append(found, leaves(manifest, role(was, stacks), was, is)...)
		}
	}
	return found
}

func leaves(manifest, object string, today, ours map[string]any) []difference {
	was, is := flatten(today), flatten(ours)
	kind, _, _ := strings.Cut(object, " ")
	was.dropDefaults(kind, is)
	is.dropDefaults(kind, was)
	was.dropNoise()
	is.dropNoise()
	var found []difference
	for _, p := range slices.Sorted(maps.Keys(union(was, is))) {
		before, hadIt := was[p]
		after, hasIt := is[p]
		if hadIt == hasIt && before == after {
			continue
		}
		d := difference{manifest, object, p, absent, absent}
		if hadIt {
			d.Today = before
		}
		if hasIt {
			d.Ours = after
		}
		found = append(found, d)
	}
	return found
}

func index(objects []map[string]any) map[string]map[string]any {
	result := make(map[string]map[string]any)
	for _, object := range objects {
		metadata, _ := object["metadata"].(map[string]any)
		result[fmt.Sprintf("%s/%s", object["kind"], metadata["name"])] = object
	}
	return result
}

func union[T any](a, b map[string]T) map[string]T {
	result := maps.Clone(a)
	maps.Copy(result, b)
	return result
}
