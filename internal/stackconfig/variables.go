package stackconfig

import (
	"encoding/json"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// reference is a part of a text that looks like one the server replaces from its
// environment: the name, and :=default or :+alternative.
var reference = regexp.MustCompile(`\$\{env\.([^:}]*)(:[=+][^}]*)?\}`)

// variableReference is such a part: the whole, the name, and the rest with its := or :+,
// which may be empty.
type variableReference struct{ whole, name, otherwise string }

// referencesIn are those of a text, from left to right.
func referencesIn(text string) iter.Seq[variableReference] {
	return func(yield func(variableReference) bool) {
		for {
			at := reference.FindStringSubmatchIndex(text)
			if at == nil {
				return
			}
			found := variableReference{whole: text[at[0]:at[1]], name: text[at[2]:at[3]]}
			if at[4] >= 0 {
				found.otherwise = text[at[4]:at[5]]
			}
			if !yield(found) {
				return
			}
			text = text[at[1]:]
		}
	}
}

// readable is a name that the server replaces; any other stays as it is.
var readable = regexp.MustCompile(`^[A-Z0-9_]+$`)

// variablesIn warns of variables in settings that are not what they look like, or
// that nobody knows of.
func (d *draft) variablesIn(value any, path *field.Path) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			d.variablesIn(v[key], path.Child(key))
		}
	case []any:
		for i, item := range v {
			d.variablesIn(item, path.Index(i))
		}
	case string:
		for found := range referencesIn(v) {
			d.variable(found.name, found.otherwise != "", path)
		}
	}
}

func (d *draft) variable(name string, hasDefault bool, path *field.Path) {
	switch {
	case !readable.MatchString(name):
		d.warnf(path, "%q is not replaced: the server reads names of upper-case letters, digits and '_' only", variableText(name))
	case hasDefault || d.isSet(name):
	case d.in.MoreVariables:
		d.warnf(path, "%q must come with spec.workload.overrides.envFrom, or the server does not start", name)
	}
	// Without envFrom it is an error, which the step check tells for the whole configuration.
}

// isSet says whether the server's container has a variable for sure.
func (d *draft) isSet(name string) bool {
	switch name {
	case names.EnvModelCache, names.EnvConfig, names.EnvRunConfig, names.EnvPort, names.EnvWorkers,
		d.rel.Runtime.PortVariable, d.rel.Runtime.FactoryVariable:
		return true
	}
	if _, set := slices.BinarySearch(d.in.Variables, name); set {
		return true
	}
	return d.set[name] || slices.ContainsFunc(d.in.SecretEnv, func(v intent.Variable) bool { return v.Name == name })
}

// alone is a value that is one variable and nothing else. The server makes a
// number of it when it reads like one.
var alone = regexp.MustCompile(`^\$\{env\.([A-Z0-9_]+)\}$`)

// TextVariables are the variables that settings hand to keys of the server that
// take text and no number, sorted: a value such as 12345 would stop the server.
func TextVariables(settings *intent.Settings, rel *release.Release) []string {
	at := make(map[string]string)
	probe, ok := numbered(settings.Values, "", at).(map[string]any)
	if !ok || len(at) == 0 {
		return nil
	}
	var variables []string
	problems := rel.TopLevel.Check(yamlnode.FromJSON(probe))
	for i := range problems {
		if name, known := at[problems[i].Path]; known && problems[i].Kind == schema.WrongType {
			variables = append(variables, name)
		}
	}
	slices.Sort(variables)
	return slices.Compact(variables)
}

// numbered is a copy of a value in which each lone variable is a number, and notes
// where the variables were.
func numbered(value any, path string, at map[string]string) any {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			object[key] = numbered(v[key], joinPath(path, key), at)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = numbered(v[i], path+"["+strconv.Itoa(i)+"]", at)
		}
		return list
	case string:
		if match := alone.FindStringSubmatch(v); match != nil {
			at[path] = match[1]
			return json.Number("0")
		}
	}
	return value
}
