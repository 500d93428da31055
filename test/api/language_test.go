package api

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	apiservercel "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// oldest is the language of the oldest Kubernetes that our rules must run on.
func oldest() *environment.EnvSet { return environment.MustBaseEnvSet(version.MajorMinor(1, 31)) }

func TestRulesCompileOnOldestKubernetes(t *testing.T) {
	for _, version := range readDefinition(t).Spec.Versions {
		t.Run(version.Name, func(t *testing.T) { compileRules(t, version.Schema.OpenAPIV3Schema) })
	}
}

func compileRules(t *testing.T, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &internal, nil); err != nil {
		t.Fatal(err)
	}
	root, err := structural.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	var rules int
	compile := func(s *structural.Structural) bool {
		results, err := schemacel.Compile(s, model.SchemaDeclType(s, false), apiservercel.PerCallLimit, oldest(), schemacel.NewExpressionsEnvLoader())
		if err != nil {
			t.Error(err)
		}
		for i, result := range results {
			rules++
			if result.Error != nil {
				t.Errorf("%s: %v", s.XValidations[i].Rule, result.Error)
			}
			if result.MessageExpressionError != nil {
				t.Errorf("%s: %v", s.XValidations[i].MessageExpression, result.MessageExpressionError)
			}
		}
		return false
	}
	(&structural.Visitor{Structural: compile}).Visit(root)
	if rules == 0 {
		t.Error("no rule was compiled")
	}
}

func TestPolicyCompilesOnOldestKubernetes(t *testing.T) {
	policy := readPolicy(t)
	compiler, err := cel.NewCompositedCompiler(oldest())
	if err != nil {
		t.Fatal(err)
	}
	options := cel.OptionalVariableDeclarations{HasParams: false, HasAuthorizer: true}
	check := func(expression string, result cel.CompilationResult) {
		if result.Error != nil {
			t.Errorf("%s: %v", expression, result.Error)
		}
	}
	for i := range policy.Spec.Variables {
		v := &validating.Variable{Name: policy.Spec.Variables[i].Name, Expression: policy.Spec.Variables[i].Expression}
		check(v.Expression, compiler.CompileAndStoreVariable(v, options, environment.NewExpressions))
	}
	for _, v := range policy.Spec.Validations {
		check(v.Expression, compiler.CompileCELExpression(
			&validating.ValidationCondition{Expression: v.Expression}, options, environment.NewExpressions))
		if v.MessageExpression != "" {
			check(v.MessageExpression, compiler.CompileCELExpression(
				&validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}, options, environment.NewExpressions))
		}
	}
	if len(policy.Spec.Variables) == 0 || len(policy.Spec.Validations) == 0 {
		t.Error("nothing was compiled")
	}
}
