package suggest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

func TestUnknown(t *testing.T) {
	for path, want := range map[string]string{
		"spec.env":                                     `did you mean spec.workload.overrides.env?`,
		"spec.workload.env":                            `did you mean spec.workload.overrides.env?`,
		"spec.workload.overrides.nodeSelector":         `did you mean spec.workload.overrides.podTemplate.spec.nodeSelector?`,
		"spec.workload.overrides.serviceAccount":       `did you mean "serviceAccountName"?`,
		"spec.providers.vectorIo[1].host":              `did you mean "settings"?`,
		"spec.providers.inference.baseUrl":             `did you mean "endpoint"?`,
		"spec.providers.embedding":                     `did you mean "inference"?`,
		"spec.providers.inference.apiKey.valueFrom":    `did you mean "secretKeyRef"?`,
		"spec.resources.models[0].model_id":            `did you mean "name"?`,
		"spec.storage.sql.password":                    `did you mean "connectionString"?`,
		"spec.networking.expose.host":                  `did you mean "hostname"?`,
		"spec.networking.serviceType":                  `the Service has the type ClusterIP`,
		"spec.server":                                  `unknown field, which only v1alpha1 has`,
		"spec.externalProviders.inference[0].provider": "",
		"spec.endpoint":                                "",
		"metadata.env":                                 "",
		"env":                                          "",
		"":                                             "",
	} {
		if got := Unknown(path); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("Unknown(%q) = %q, want %q", path, got, want)
		}
	}
	if got := Unknown("spec." + strings.Repeat("a.", 1<<20) + "env"); got != "" {
		t.Errorf("a path of 2 MiB has the place %q", got)
	}
}

// Every word is the name of a field that its object does not have, and every place is a field of the spec.
func TestWords(t *testing.T) {
	spec := reflect.TypeFor[v1alpha2.LlamaStackDistributionSpec]()
	for _, w := range words {
		if w.names == "" || w.place == "" && w.remedy == "" {
			t.Errorf("%+v is incomplete", w)
		}
		if place, ok := strings.CutPrefix(w.place, "spec."); ok && !exists(spec, strings.Split(place, ".")) {
			t.Errorf("%q: there is no field %s", w.names, w.place)
		}
		for name := range strings.FieldsSeq(w.names) {
			under, ok := strings.CutPrefix(w.under, "spec.")
			path := append(strings.Split(under, "."), name)
			if w.under == "spec" {
				path, ok = []string{name}, true
			}
			if ok && isTyped(spec, path) && exists(spec, path) {
				t.Errorf("%s.%s is a field", w.under, name)
			}
		}
	}
}

// exists reports whether a path leads to a field, or into a value without a typed form.
func exists(typ reflect.Type, path []string) bool {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if len(path) == 0 || typ.Kind() != reflect.Struct || typ.Name() == "JSON" {
		return true
	}
	for field := range typ.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == path[0] {
			return exists(field.Type, path[1:])
		}
	}
	return false
}

// isTyped reports whether the object with the last field of a path has a type with fields.
func isTyped(typ reflect.Type, path []string) bool {
	for _, name := range path {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ.NumField() == 1 {
			return false
		}
		for field := range typ.Fields() {
			if known, _, _ := strings.Cut(field.Tag.Get("json"), ","); known == name {
				typ = field.Type
				break
			}
		}
	}
	return true
}
