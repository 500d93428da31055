package api

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	apiservercel "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// kubeVersion matches the line of Chart.yaml that sets the oldest Kubernetes version that the chart accepts.
var kubeVersion = regexp.MustCompile(`(?m)^kubeVersion: ">=(1\.[0-9]+)\.0-0"$`)

// oldest returns the CEL environment of the oldest Kubernetes version that the chart accepts. All rules must compile
// with it.
func oldest(t *testing.T) *environment.EnvSet {
	t.Helper()
	chart, err := os.ReadFile(filepath.Join(testutil.Root(), "charts/llama-stack-k8s-operator/Chart.yaml"))
	testutil.Must(t, err)
	match := kubeVersion.FindSubmatch(chart)
	if match == nil {
		t.Fatalf("the chart does not contain %s", kubeVersion)
	}
	return environment.MustBaseEnvSet(version.MustParseGeneric(string(match[1])))
}

func TestRulesCompileOnOldestKubernetes(t *testing.T) {
	for _, version := range readDefinition(t).Spec.Versions {
		t.Run(version.Name, func(t *testing.T) { compileRules(t, version.Schema.OpenAPIV3Schema) })
	}
}

func compileRules(t *testing.T, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	testutil.Must(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &internal,
		nil))
	root, err := structural.NewStructural(&internal)
	testutil.Must(t, err)
	var rules int
	language := oldest(t)
	compile := func(s *structural.Structural) bool {
		results, err := schemacel.Compile(s, model.SchemaDeclType(s, false), apiservercel.PerCallLimit, language,
			schemacel.NewExpressionsEnvLoader())
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
	a := newAdmission(t)
	for _, v := range policy.Spec.Variables {
		variable := &validating.Variable{Name: v.Name, Expression: v.Expression}
		a.check(v.Expression, a.compiler.CompileAndStoreVariable(variable, a.options, environment.NewExpressions))
	}
	for _, v := range policy.Spec.Validations {
		a.compile(&validating.ValidationCondition{Expression: v.Expression})
		if v.MessageExpression != "" {
			a.compile(&validating.MessageExpressionCondition{MessageExpression: v.MessageExpression})
		}
	}
	if len(policy.Spec.Variables) == 0 || len(policy.Spec.Validations) == 0 {
		t.Error("no expression was compiled")
	}
}

// TestMatchConditionsCompileOnOldestKubernetes checks the match conditions of the webhook.
func TestMatchConditionsCompileOnOldestKubernetes(t *testing.T) {
	configuration, compiled := readWebhooks(t), 0
	a := newAdmission(t)
	for i := range configuration.Webhooks {
		for _, condition := range configuration.Webhooks[i].MatchConditions {
			a.compile(&matchconditions.MatchCondition{Name: condition.Name, Expression: condition.Expression})
			compiled++
		}
	}
	if compiled == 0 {
		t.Error("no condition was compiled")
	}
}

func readWebhooks(t *testing.T) *admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config/webhook/validatingwebhookconfiguration.yaml"))
	testutil.Must(t, err)
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(objects[0].Object, configuration, true)
	testutil.Must(t, err)
	return configuration
}

// admission compiles expressions of policies and webhooks.
type admission struct {
	t        *testing.T
	compiler *cel.CompositedCompiler
	options  cel.OptionalVariableDeclarations
}

func newAdmission(t *testing.T) admission {
	t.Helper()
	compiler, err := cel.NewCompositedCompiler(oldest(t))
	testutil.Must(t, err)
	return admission{t, compiler, cel.OptionalVariableDeclarations{HasParams: false, HasAuthorizer: true}}
}

func (a admission) compile(expression cel.ExpressionAccessor) {
	a.t.Helper()
	a.check(expression.GetExpression(), a.compiler.CompileCELExpression(expression, a.options, environment.NewExpressions))
}

func (a admission) check(expression string, result cel.CompilationResult) {
	a.t.Helper()
	if result.Error != nil {
		a.t.Errorf("%s: %v", expression, result.Error)
	}
}
