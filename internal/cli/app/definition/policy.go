package definition

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/lazy"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/config"
)

// policy is the compiled admission policy. It has no match conditions, because those of the policy hold for a creation.
type policy struct {
	variables []variable
	rules     []rule
}

type variable struct {
	name  string
	value cel.Program
	// checked returns the program for large objects. Nil means that it is the same.
	checked func() (cel.Program, error)
}

// rule is a validation. message is nil if the text is the message.
type rule struct {
	holds, message cel.Program
	text           string
}

var compiled = sync.OnceValues(func() (*policy, error) {
	var read admissionregistrationv1.ValidatingAdmissionPolicy
	if err := yaml.Unmarshal(config.Policy, &read); err != nil {
		return nil, fmt.Errorf("decode the policy: %w", err)
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: utilversion.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType), cel.Variable("variables", cel.DynType),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("create the environment for CEL: %w", err)
	}
	return compile(&read.Spec, set.NewExpressionsEnv())
})

// compile parses the expressions. It does not check their types: the types of the values are not known before the
// evaluation, so a check finds nothing, and takes as long as all else. The tests create the policy on an API server,
// which checks it.
func compile(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec, env *cel.Env) (*policy, error) {
	found, errs := &policy{}, []error{}
	program := func(expression string) cel.Program {
		if expression == "" {
			return nil
		}
		compiled, err := programOf(env, env.Parse, expression)
		errs = append(errs, err)
		return compiled
	}
	for _, each := range spec.Variables {
		one := variable{name: each.Name, value: program(each.Expression)}
		// The cost of these variables can reach the limit for a large object, and an expression has the cost that it has on
		// an API server only after a check of its types.
		if each.Name == "nested" || each.Name == "managed" {
			one.checked = sync.OnceValues(func() (cel.Program, error) { return programOf(env, env.Compile, each.Expression) })
		}
		found.variables = append(found.variables, one)
	}
	for _, each := range spec.Validations {
		found.rules = append(found.rules, rule{program(each.Expression), program(each.MessageExpression), each.Message})
	}
	return found, errors.Join(errs...)
}

func programOf(env *cel.Env, parse func(string) (*cel.Ast, *cel.Issues), expression string) (cel.Program, error) {
	tree, issues := parse(expression)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	return env.Program(tree, cel.InterruptCheckFrequency(celconfig.CheckFrequency))
}

// manyValues is the number of values from which on an object is large. With fewer values, all expressions together
// reach less than a hundredth of the limit for the cost.
const manyValues = 1_000

// isLarge counts down the values in an object, and reports whether there are more than left.
func isLarge(value any, left *int) bool {
	*left--
	switch value := value.(type) {
	case []any:
		for i := 0; i < len(value) && *left >= 0; i++ {
			isLarge(value[i], left)
		}
	case map[string]any:
		for _, item := range value {
			if *left < 0 || isLarge(item, left) {
				break
			}
		}
	}
	return *left < 0
}

// checkPolicy returns the errors of the policy for the creation of a v1alpha2 object.
func checkPolicy(ctx context.Context, object map[string]any) (field.ErrorList, error) {
	used, err := compiled()
	if err != nil {
		return nil, fmt.Errorf("compile the policy: %w", err)
	}
	e, err := used.evaluation(ctx, object)
	if err != nil {
		return nil, fmt.Errorf("compile the policy: %w", err)
	}
	var errs field.ErrorList
	for _, each := range used.rules {
		if e.value(ctx, each.holds) == types.True {
			continue
		}
		text := each.text
		if each.message != nil {
			if told, ok := e.value(ctx, each.message).(types.String); ok {
				text = string(told)
			}
		}
		path, detail, _ := strings.Cut(text, ": ")
		errs = append(errs, &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: detail})
	}
	return errs, nil
}

// evaluation is the evaluation of all expressions for one object.
type evaluation struct {
	values map[string]any
	// budget is the rest of the cost that an API server allows for an object.
	budget int64
}

func (p *policy) evaluation(ctx context.Context, object map[string]any) (*evaluation, error) {
	variables := lazy.NewMapValue(types.NewObjectType("variables"))
	e := &evaluation{
		budget: celconfig.RuntimeCELCostBudget,
		values: map[string]any{"object": object, "oldObject": types.NullValue, "variables": variables},
	}
	large := isLarge(object, new(manyValues))
	for _, each := range p.variables {
		value := each.value
		if large && each.checked != nil {
			var err error
			if value, err = each.checked(); err != nil {
				return nil, err
			}
		}
		variables.Append(each.name, func(*lazy.MapValue) ref.Val { return e.value(ctx, value) })
	}
	return e, nil
}

// value evaluates an expression. The value of an expression that fails, or that costs too much, is an error.
func (e *evaluation) value(ctx context.Context, expression cel.Program) ref.Val {
	value, details, err := expression.ContextEval(ctx, e.values)
	if details != nil {
		if cost := details.ActualCost(); cost != nil {
			e.budget -= int64(min(*cost, celconfig.RuntimeCELCostBudget))
		}
	}
	switch {
	case err != nil:
		return types.WrapErr(err)
	case e.budget < 0:
		return types.NewErr("the rules cost too much")
	}
	return value
}
