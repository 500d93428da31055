package dryrun

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// WithPlace returns a problem as text with its path. For an unknown field, the text suggests the right place: that of a
// word that users bring from elsewhere, a field with a similar name, or the only field with the same name below the
// object. It does not suggest a field of another section because of its name alone.
func WithPlace(problem typecheck.Problem, typ reflect.Type) string {
	if !strings.HasPrefix(problem.Message, "unknown field") {
		if form := forms[problem.Path]; form != "" && strings.HasPrefix(problem.Message, "must be an object, ") {
			return problem.String() + "; write " + form
		}
		return problem.String()
	}
	if message := brought(problem.Path, typ); message != "" {
		return problem.Path + ": " + message
	}
	dot := strings.LastIndex(problem.Path, ".")
	if dot >= 0 && !strings.Contains(problem.Message, "did you mean") {
		below := slices.DeleteFunc(placesOf(problem.Path[dot+1:], typecheck.FieldsOf(typ)["spec"], "spec"),
			func(place string) bool { return !strings.HasPrefix(place, problem.Path[:dot+1]) })
		if len(below) == 1 {
			return fmt.Sprintf("%s: unknown field; did you mean %s?", problem.Path, below[0])
		}
	}
	return problem.String()
}

// forms contains the usual forms of objects that users write as text, a boolean or a list.
var forms = map[string]string{
	"spec.distribution":           "{name: starter}",
	"spec.server.distribution":    "{name: starter}",
	"spec.networking.tls":         "{enabled: true, secretName: <Secret>}",
	"spec.networking.allowedFrom": "{namespaces: [<namespace>]}",
	"spec.secretEnv":              "{HF_TOKEN: {secretKeyRef: {name: <Secret>, key: <key>}}}",
	"spec.workload.storage":       "{size: 10Gi}",
	"spec.overrideConfig":         "{configMapName: <ConfigMap>}",
	"spec.baseConfig":             "{configMapName: <ConfigMap>}",
	"spec.storage":                "{sql: {type: postgres, connectionString: {secretKeyRef: {name: <Secret>, key: <key>}}}}",
}

// brought returns the message of suggest.Unknown in the words of the API version.
func brought(path string, typ reflect.Type) string {
	if typ != reflect.TypeFor[v1alpha1.LlamaStackDistribution]() {
		return suggest.Unknown(path)
	}
	inServer, ok := strings.CutPrefix(path, "spec.server.")
	if !ok {
		return ""
	}
	message := convert.OlderPaths(suggest.Unknown("spec." + inServer))
	if strings.Contains(message, v1alpha2.GroupVersion.Version) {
		return "" // v1alpha1 has no such field
	}
	return message
}

// placesOf returns the paths of all fields with the given name in the API's types, in no particular order.
func placesOf(name string, typ reflect.Type, path string) []string {
	var found []string
	for key, field := range typecheck.FieldsOf(typ) {
		below := path + "." + key
		if key == name {
			found = append(found, below)
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if field.Kind() == reflect.Struct && strings.Contains(field.PkgPath(), "/api/v1alpha") {
			found = append(found, placesOf(name, field, below)...)
		}
	}
	return found
}
