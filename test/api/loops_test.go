package api

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// bounded matches the objects and lists over which the policy loops, with the reason for which each of them is short.
// The API server's cost of a loop grows with the square of its length, so a loop without a bound before it lets a
// tenant keep the API server busy.
var bounded = []struct{ reason, form string }{
	{"a list that the policy contains", `\[.*\]|variables\.(apis|places|kinds|untyped)|kind\.strings`},
	{"a list of a previous loop", `.*\.(filter|map)\(.*\)|\[.*|\(.*`},
	{"one entry for each API, and at most 64 in each", `each|refs|entries|variables\.(entries|objects|references|typed|ids|idsTwice|idsDouble)(\[[ab]\])?`},
	{"at most 64, see the variable objects", `e\.value(\.secretRefs)?`},
	{"at most 500, see the variable kinds", `variables\.resources\[kind\.field\]`},
	{"at most 256, in the expression", `variables\.expose\.annotations`},
	{"at most 500, in the expression", `variables\.podTemplateSpec\[k\]`},
	{"at most 500 or 1000, in the expression of the variables nested and managed", `part\.value|[a-np-u]`},
	{"at most 128, in the expression", `o\.metadata\.managedFields`},
	{"the new and the stored object", `variables\.managed`},
}

// within matches the objects and lists whose size an expression itself compares with a limit.
var within = regexp.MustCompile(`^(part\.value|[a-np-u]|o\.metadata\.managedFields|variables\.podTemplateSpec\[k\]|variables\.expose\.annotations)$`)

// loopMacros lists the macros of CEL that loop.
var loopMacros = []string{"all", "exists", "exists_one", "existsOne", "filter", "map", "transformList", "transformMap"}

// TestPolicyLoops checks that a bound on the number of entries precedes every loop of the policy.
func TestPolicyLoops(t *testing.T) {
	policy := readPolicy(t)
	for _, variable := range policy.Spec.Variables {
		for _, over := range loops(t, variable.Expression) {
			i := slices.IndexFunc(bounded, func(b struct{ reason, form string }) bool {
				return regexp.MustCompile(`^(?s:` + b.form + `)$`).MatchString(over)
			})
			if i < 0 {
				t.Errorf("variable %s loops over %s: compare its size with a limit before the loop, and add it to this test",
					variable.Name, over)
			}
			bound := "size(" + over + ") > 500 ||"
			if variable.Name == "managed" {
				bound = "size(" + over + ") > 1000 ||"
			}
			switch over {
			case "o.metadata.managedFields":
				bound = "size(" + over + ") <= 128 &&"
			case "variables.podTemplateSpec[k]":
				bound = "size(" + over + ") <= 500"
			case "variables.expose.annotations":
				bound = "size(" + over + ") > 256"
			}
			if within.MatchString(over) && !strings.Contains(variable.Expression, bound) {
				t.Errorf("variable %s loops over %s before it compares its size with the limit", variable.Name, over)
			}
		}
	}
	for _, validation := range policy.Spec.Validations {
		for _, costly := range []string{"variables.nested", "variables.managed"} {
			if strings.Contains(validation.MessageExpression, costly) {
				t.Errorf("a message reads %s, which the API server then computes twice for each request", costly)
			}
		}
		for _, expression := range []string{validation.Expression, validation.MessageExpression} {
			if found := loops(t, expression); len(found) > 0 {
				t.Errorf("a validation loops over %v: use a variable", found)
			}
		}
	}
}

// TestDefinitionRules checks that every rule of the definition reads only texts of a limited length, and loops only
// over objects and lists of a limited size. The API server does not check the rules if a value exceeds these limits. It
// does check them if a value does not match its pattern.
func TestDefinitionRules(t *testing.T) {
	for _, version := range readDefinition(t).Spec.Versions {
		checkRules(t, version.Name, version.Schema.OpenAPIV3Schema)
	}
}

func checkRules(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for _, rule := range schema.XValidations {
		for _, over := range loops(t, rule.Rule) {
			if over != "self" || schema.MaxProperties == nil && schema.MaxItems == nil {
				t.Errorf("%s: a rule loops over %s, whose size has no limit", path, over)
			}
		}
		if strings.Contains(rule.Rule, "uantity(") {
			t.Errorf("%s: a rule parses a quantity", path)
		}
		if schema.Type == "string" && schema.MaxLength == nil && len(schema.Enum) == 0 {
			t.Errorf("%s: a rule reads a text without a maximum length", path)
		}
		for _, read := range regexp.MustCompile(`self\.([A-Za-z]+)\.(?:matches|contains|startsWith)\(`).FindAllStringSubmatch(rule.Rule, -1) {
			if schema.Properties[read[1]].MaxLength == nil {
				t.Errorf("%s.%s: a rule reads a text without a maximum length", path, read[1])
			}
		}
	}
	for name := range schema.Properties {
		child := schema.Properties[name]
		checkRules(t, path+"."+name, &child)
	}
	if schema.Items != nil {
		checkRules(t, path+"[]", schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		checkRules(t, path+"{}", schema.AdditionalProperties.Schema)
	}
}

// loops returns the objects and lists over which an expression loops.
func loops(t *testing.T, expression string) []string {
	t.Helper()
	if expression == "" {
		return nil
	}
	env, err := cel.NewCustomEnv(cel.ClearMacros(), cel.OptionalTypes())
	testutil.Must(t, err)
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	var found []string
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() ||
			!slices.Contains(loopMacros, e.AsCall().FunctionName()) {
			return
		}
		text, err := parser.Unparse(e.AsCall().Target(), ast.NewSourceInfo(nil))
		testutil.Must(t, err)
		found = append(found, text)
	}))
	return found
}
