package manifest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// shapes maps Go types that contain raw JSON to the type of that JSON. The JSON is one object of the type, or a list of
// such objects.
var shapes = map[reflect.Type]reflect.Type{
	reflect.TypeFor[v1alpha2.Providers]():   reflect.TypeFor[v1alpha2.Provider](),
	reflect.TypeFor[v1alpha2.ModelEntry]():  reflect.TypeFor[v1alpha2.Model](),
	reflect.TypeFor[v1alpha2.ToolEntry]():   reflect.TypeFor[v1alpha2.Tool](),
	reflect.TypeFor[v1alpha2.ShieldEntry](): reflect.TypeFor[v1alpha2.Shield](),
	reflect.TypeFor[v1alpha2.Expose]():      reflect.TypeFor[v1alpha2.ExposeSpec](),
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// shape returns the type that defines the fields of a value, or nil if there is none.
func shape(typ reflect.Type) reflect.Type {
	for typ != nil && typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ == nil {
		return nil
	}
	if of, ok := shapes[typ]; ok {
		return of
	}
	if typ.PkgPath() != reflect.TypeFor[v1alpha2.Provider]().PkgPath() && reflect.PointerTo(typ).Implements(unmarshaler) {
		return nil
	}
	return typ
}

// item returns the type of the items of a list.
func item(typ reflect.Type) reflect.Type {
	typ = shape(typ)
	if typ != nil && typ.Kind() == reflect.Slice {
		return typ.Elem()
	}
	return typ
}

// field returns the type of a field, or nil if there is none.
func field(typ reflect.Type, name string) reflect.Type {
	typ = shape(typ)
	switch {
	case typ == nil:
		return nil
	case typ.Kind() == reflect.Map:
		return typ.Elem()
	case typ.Kind() == reflect.Struct:
		return typecheck.FieldsOf(typ)[name]
	default:
		return nil
	}
}

// keys returns the keys of an object: first the fields of its type in the order of the type, then the other keys in the
// source in the order of the source, and then the remaining keys.
func keys(object map[string]any, typ reflect.Type, written []string) []string {
	left := maps.Clone(object)
	var found []string
	take := func(name string) {
		if _, ok := left[name]; ok {
			found = append(found, name)
			delete(left, name)
		}
	}
	for _, name := range declared(shape(typ)) {
		take(name)
	}
	for _, name := range written {
		take(name)
	}
	return slices.AppendSeq(found, slices.Values(slices.Sorted(maps.Keys(left))))
}

// declared returns the JSON names of a struct's fields in the order of the type.
func declared(typ reflect.Type) []string {
	if typ == nil || typ.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for field := range typ.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			names = append(names, declared(shape(field.Type))...)
			continue
		}
		names = append(names, name)
	}
	// apiVersion is the first key of a manifest, but the second field of the Go type.
	if i := slices.Index(names, "apiVersion"); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "apiVersion")
	}
	return names
}
