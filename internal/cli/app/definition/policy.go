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

func compile(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec, env *cel.Env) (*policy, error) {
	found, errs := &policy{}, []error{}
	program := func(parse func(string) (*cel.Ast, *cel.Issues), expression string) cel.Program {
		if expression == "" {
			return nil
		}
		tree, issues := parse(expression)
		if err := issues.Err(); err != nil {
			errs = append(errs, err)
			return nil
		}
		compiled, err := env.Program(tree, cel.InterruptCheckFrequency(celconfig.CheckFrequency))
		errs = append(errs, err)
		return compiled
	}
	for _, each := range spec.Variables {
		// The types of the values are not known before the evaluation, so a check of the types finds nothing, and takes as
		// long as all else. The tests create the policy on an API server, which checks it. But the cost of the variables
		// nested and managed can reach the limit, and an expression has the cost that it has on an API server only after a
		// check.
		parse := env.Parse
		if each.Name == "nested" || each.Name == "managed" {
			parse = env.Compile
		}
		found.variables = append(found.variables, variable{each.Name, program(parse, each.Expression)})
	}
	for _, each := range spec.Validations {
		found.rules = append(found.rules, rule{
			program(env.Parse, each.Expression), program(env.Parse, each.MessageExpression), each.Message,
		})
	}
	return found, errors.Join(errs...)
}

// checkPolicy returns the errors of the policy for the creation of a v1alpha2 object.
func checkPolicy(ctx context.Context, object map[string]any) (field.ErrorList, error) {
	used, err := compiled()
	if err != nil {
		return nil, fmt.Errorf("compile the policy: %w", err)
	}
	variables := lazy.NewMapValue(types.NewObjectType("variables"))
	e := evaluation{
		budget: celconfig.RuntimeCELCostBudget,
		values: map[string]any{"object": object, "oldObject": types.NullValue, "variables": variables},
	}
	for _, each := range used.variables {
		variables.Append(each.name, func(*lazy.MapValue) ref.Val { return e.value(ctx, each.value) })
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
