package definition

import (
	"context"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// Check returns the errors of an API server for the creation of a stack. The field paths are those of the version of
// the object. `namespace` is the namespace of an object without one. Check returns no errors for an object in a version
// that the definition does not have, nor for metadata that cannot be decoded.
func Check(object map[string]any, namespace string) (field.ErrorList, error) {
	ctx := context.Background() // the budget of CEL bounds the time
	known, err := versions()
	if err != nil {
		return nil, err
	}
	apiVersion, _ := object["apiVersion"].(string)
	_, name, _ := strings.Cut(apiVersion, "/")
	used := known[name]
	if used == nil {
		return nil, nil
	}
	object = runtime.DeepCopyJSON(object)
	errs := unknown(used.prepare(object))
	errs = append(errs, checkMeta(object, namespace)...)
	if errs = append(errs, used.check(ctx, object)...); len(errs) > 0 {
		return errs, nil
	}
	if name == v1alpha2.GroupVersion.Version {
		return checkPolicy(ctx, object)
	}
	object = convert.ToHub(object)
	known[v1alpha2.GroupVersion.Version].prepare(object)
	errs, err = checkPolicy(ctx, object)
	for _, one := range errs {
		one.Field, one.Detail = convert.OlderPaths(one.Field), convert.OlderPaths(one.Detail)
	}
	return errs, err
}

// prepare changes an object as an API server does before it checks the object: it removes unknown fields, values of
// null and the status, which a creation cannot set, and it sets defaults. It returns the paths of the unknown fields.
func (v *version) prepare(object map[string]any) []string {
	paths := pruning.PruneWithOptions(object, v.schema, true, structuralschema.UnknownFieldPathOptions{
		TrackUnknownFieldPaths: true,
	})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, v.schema)
	delete(object, "status")
	defaulting.Default(object, v.schema)
	return paths
}

// unknown returns an error for each unknown field, because kubectl sends objects with strict validation.
func unknown(paths []string) field.ErrorList {
	var errs field.ErrorList
	for _, path := range paths {
		errs = append(errs, &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: "unknown field"})
	}
	return errs
}

func checkMeta(object map[string]any, namespace string) field.ErrorList {
	meta, found, paths, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{
		ReturnUnknownFieldPaths: true,
	})
	if err != nil || !found {
		return nil
	}
	if meta.Namespace == "" {
		meta.Namespace = namespace
	}
	if meta.Name == "" && meta.GenerateName != "" {
		meta.Name = meta.GenerateName + "xxxxx" // an API server appends five characters
		if err := unstructured.SetNestedField(object, meta.Name, "metadata", "name"); err != nil {
			return nil
		}
	}
	errs := validation.ValidateObjectMeta(meta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return append(unknown(paths), errs...)
}

// check checks an object with the schema. It checks an object that the schema accepts with the CEL rules.
func (v *version) check(ctx context.Context, object map[string]any) field.ErrorList {
	errs := apiservervalidation.ValidateCustomResource(nil, object, v.validator)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, v.schema, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.schema, object)...)
	if len(errs) > 0 {
		return errs
	}
	errs, _ = v.rules.of(v.schema, object).Validate(ctx, nil, v.schema, object, nil, celconfig.RuntimeCELCostBudget)
	return errs
}
