package api

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestCases compares the responses in the table with the responses of a real API server. Therefore, the tests in this
// file check only that the table contains a response for each rule.

var (
	index   = regexp.MustCompile(`\[[0-9]+\]`)
	mapKey  = regexp.MustCompile(`(externalProviders|secretRefs|secretEnv)[.\[]([A-Za-z_0-9-]+)\]?`)
	literal = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"`)
)

// refusals returns the API server's responses for all cases. The paths in the responses are replaced with schema paths.
func refusals(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, c := range loadCases(t).Cases {
		for _, line := range c.Server {
			lines = append(lines, mapKey.ReplaceAllString(index.ReplaceAllString(line, "[]"), "$1{}"))
		}
	}
	return lines
}

// accepted returns the schema paths at which accepted objects have a value.
func accepted(t *testing.T) map[string]bool {
	t.Helper()
	paths := map[string]bool{}
	for _, c := range loadCases(t).Cases {
		if len(c.Server) == 0 && len(c.Go) == 0 {
			collect(paths, "spec", c.Object["spec"])
		}
	}
	return paths
}

func collect(paths map[string]bool, path string, value any) {
	paths[path] = true
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			collect(paths, path+"."+key, below)
			collect(paths, path+"{}", below)
		}
	case []any:
		for _, below := range v {
			collect(paths, path+"[]", below)
		}
	}
}

// check describes a schema check: the rule, the path of the field, and a part of the message for a rejected value.
type check struct{ rule, path, text string }

// limits returns the checks of a node, without its CEL rules.
func limits(n node) []check {
	s := n.schema
	var checks []check
	add := func(set bool, name, text string) {
		if set {
			checks = append(checks, check{name, n.path, text})
		}
	}
	add(s.Minimum != nil, "minimum", "should be greater than or equal to")
	add(s.Maximum != nil, "maximum", "should be less than or equal to")
	add(s.MinLength != nil, "minLength", "should be at least 1 chars long")
	add(s.MaxLength != nil, "maxLength", "Too long")
	add(s.MinItems != nil, "minItems", "should have at least 1 items")
	add(s.MaxItems != nil, "maxItems", "Too many")
	add(s.MinProperties != nil, "minProperties", "should have at least 1 properties")
	add(s.MaxProperties != nil, "maxProperties", "Too many")
	add(len(s.Enum) > 0, "enum", "Unsupported value")
	add(s.Pattern != "", "pattern", "should match")
	if s.XListType != nil && *s.XListType == "set" {
		checks = append(checks, check{"set", n.path + "[]", "Duplicate value"})
	}
	for _, name := range s.Required {
		checks = append(checks, check{"required", n.path + "." + name, "Required value"})
	}
	return checks
}

// rule returns the check for a CEL rule.
func rule(path string, v *apiextensionsv1.ValidationRule) check {
	text := v.Message
	if v.MessageExpression != "" {
		text = longestLiteral(v.MessageExpression)
	}
	return check{"rule " + v.Rule, path + v.FieldPath, text}
}

func longestLiteral(expression string) string {
	longest := ""
	for _, text := range literals(expression) {
		for part := range strings.SplitSeq(strings.ReplaceAll(text, "%d", "%s"), "%s") {
			if len(part) > len(longest) {
				longest = part
			}
		}
	}
	return longest
}

func literals(expression string) []string {
	var found []string
	for _, match := range literal.FindAllStringSubmatch(expression, -1) {
		found = append(found, match[1]+match[2])
	}
	return found
}

// TestSchemaHasCases fails for each schema check below spec that no case violates, and for each field with checks that
// is not set in any accepted case. It does not include Kubernetes' own types.
func TestSchemaHasCases(t *testing.T) {
	refused, passed := refusals(t), accepted(t)
	for _, n := range nodes(t) {
		if !strings.HasPrefix(n.path, "spec.") || slices.Contains(kubernetes, n.path) {
			continue
		}
		checks := limits(n)
		for i := range n.schema.XValidations {
			checks = append(checks, rule(n.path, &n.schema.XValidations[i]))
		}
		for _, c := range checks {
			if !slices.ContainsFunc(refused, func(line string) bool {
				return strings.HasPrefix(line, c.path+": ") && strings.Contains(line, c.text)
			}) {
				t.Errorf("%s: no case is rejected by %s with the message %q", c.path, c.rule, c.text)
			}
		}
		if len(checks) > 0 && !passed[n.path] {
			t.Errorf("%s: no accepted case has a value here", n.path)
		}
	}
}

func readPolicy(t *testing.T) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config/policy/validatingadmissionpolicy.yaml"))
	testutil.Must(t, err)
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(objects[0].Object, policy, true)
	testutil.Must(t, err)
	return policy
}

// TestPolicyHasCases reports policy messages that no test case triggers. A message is any string literal in the
// policy's expressions that contains a space, or the message of a validation without a messageExpression. Each
// validation must have the field `message`, also in case its messageExpression fails.
func TestPolicyHasCases(t *testing.T) {
	policy := readPolicy(t)
	var expressions []string
	for _, v := range policy.Spec.Variables {
		expressions = append(expressions, v.Expression)
	}
	for _, v := range policy.Spec.Validations {
		expressions = append(expressions, v.MessageExpression)
	}
	said := strings.Join(refusals(t), "\n")
	for _, expression := range expressions {
		for _, text := range literals(expression) {
			if strings.Contains(text, " ") && !strings.Contains(said, strings.ReplaceAll(text, `\"`, `"`)) {
				t.Errorf("no case results in the message %q", text)
			}
		}
	}
	for i, v := range policy.Spec.Validations {
		if v.Message == "" {
			t.Errorf("validation %d must have a message", i)
		}
		// TestDeepValues tests the places of these messages.
		if _, text, _ := strings.Cut(v.Message, ": "); v.MessageExpression == "" && !strings.Contains(said, text) {
			t.Errorf("no case results in the message %q", v.Message)
		}
	}
}

// The accepted cases also contain every part that the policy checks.
func TestPolicyAccepts(t *testing.T) {
	passed := accepted(t)
	paths := []string{"spec.resources.models", "spec.resources.tools", "spec.resources.shields", "spec.networking.expose"}
	for _, api := range policyAPIs(t) {
		paths = append(paths, "spec.providers."+api)
	}
	for _, path := range paths {
		if !passed[path] {
			t.Errorf("%s: no accepted case has a value here", path)
		}
	}
}

func policyAPIs(t *testing.T) []string {
	t.Helper()
	for _, v := range readPolicy(t).Spec.Variables {
		if v.Name == "apis" {
			return literals(v.Expression)
		}
	}
	t.Fatal("the policy has no variable apis")
	return nil
}

// The policy lists the fields of spec.providers. If you add a field to spec.providers, also add it to the policy.
func TestPolicyListsEveryAPI(t *testing.T) {
	var want []string
	for _, n := range nodes(t) {
		if name, ok := strings.CutPrefix(n.path, "spec.providers."); ok {
			want = append(want, name)
		}
	}
	got := policyAPIs(t)
	slices.Sort(got)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the policy has the APIs %v, and the schema has %v", got, want)
	}
}

// Each case has a unique name within its topic.
func TestCaseNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range loadCases(t).Cases {
		name := c.Topic + "/" + c.Name
		if seen[name] {
			t.Errorf("two cases have the name %s", name)
		}
		seen[name] = true
	}
}
