package definition

import (
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/config"
)

// version is one version of the definition.
type version struct {
	schema    *structuralschema.Structural
	validator validation.SchemaValidator
	rules     rules
}

// versions reads the definition.
var versions = sync.OnceValues(func() (map[string]*version, error) {
	var external apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(config.Definition, &external); err != nil {
		return nil, fmt.Errorf("decode the definition: %w", err)
	}
	found := map[string]*version{}
	for i := range external.Spec.Versions {
		one := &external.Spec.Versions[i]
		var err error
		if found[one.Name], err = newVersion(one.Schema.OpenAPIV3Schema); err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", one.Name, err)
		}
	}
	return found, nil
})

func newVersion(external *apiextensionsv1.JSONSchemaProps) (*version, error) {
	var properties apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(external, &properties, nil)
	if err != nil {
		return nil, err
	}
	schema, err := structuralschema.NewStructural(&properties)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&properties)
	if err != nil {
		return nil, err
	}
	return &version{schema: schema, validator: validator}, nil
}

// Prepare reads what Check needs, so that the first call of Check does not wait for it.
func Prepare() {
	go func() { _, _ = compiled() }()
	_, _ = versions()
}
