package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	testutil.Must(t, yaml.Unmarshal([]byte(text), &object))
	return object
}

// TestRules checks that the rules for an object alone have the same errors as all rules, and which rules are compiled.
func TestRules(t *testing.T) {
	known, err := versions()
	testutil.Must(t, err)
	schema := known["v1alpha2"].schema
	all := cel.NewValidator(schema, true, celconfig.PerCallLimit)
	always := []string{".spec", ".spec.distribution"}
	for name, c := range map[string]struct {
		spec   string
		errors int
		others []string
	}{
		"valid":    {"{distribution: {name: starter}}", 0, nil},
		"property": {"{distribution: {name: starter, image: 'a b'}}", 2, []string{".spec.distribution.image"}},
		"item":     {"{distribution: {name: starter}, disabled: [{api: ''}]}", 2, []string{".spec.disabled[]"}},
		"item of a map": {
			"{distribution: {name: starter}, externalProviders: {inference: [{providerId: '%', image: a}]}}", 1,
			[]string{".spec.externalProviders{}[].image", ".spec.externalProviders{}[].providerId"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := decode(t, "spec: "+c.spec)
			var own rules
			got, _ := own.of(schema, object).Validate(t.Context(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget)
			want, _ := all.Validate(t.Context(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget)
			if diff := cmp.Diff(want.ToAggregate(), got.ToAggregate(), cmp.Transformer("text", func(err error) string {
				return err.Error()
			})); diff != "" || len(got) != c.errors {
				t.Errorf("%d errors, differences (-want +got):\n%s", len(got), diff)
			}
			paths := slices.Concat(always, c.others)
			slices.Sort(paths)
			if diff := cmp.Diff(paths, slices.Sorted(maps.Keys(own.paths))); diff != "" {
				t.Errorf("compiled rules (-want +got):\n%s", diff)
			}
			if own.of(schema, decode(t, "spec: {workload: {storage: {}}}")); own.paths != nil {
				t.Errorf("another object has rules of its own: %v", own.paths)
			}
		})
	}
}

// TestSmallObjectsAreCheap checks that the cost of expressions whose types are not checked is far from the limit.
func TestSmallObjectsAreCheap(t *testing.T) {
	entries := func(n int, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "k%d: %s, ", i, value)
		}
		return "{" + b.String() + "}"
	}
	deep := func(levels int) string { return strings.Repeat("{a: ", levels) + "1" + strings.Repeat("}", levels) }
	for name, text := range map[string]string{
		"wide":    "{metadata: {}, spec: {settings: " + entries(480, "{a: 1}") + "}}",
		"deep":    "{metadata: {}, spec: {settings: " + entries(80, deep(11)) + "}}",
		"managed": "{metadata: {managedFields: [{fieldsV1: " + entries(50, deep(18)) + "}]}, spec: {}}",
	} {
		t.Run(name, func(t *testing.T) {
			object, left := decode(t, text), manyValues
			if isLarge(object, &left) || left > manyValues/20 {
				t.Fatalf("the object has %d values; use a few less than %d", manyValues-left, manyValues)
			}
			policy, err := compiled()
			testutil.Must(t, err)
			e, err := policy.evaluation(t.Context(), object)
			testutil.Must(t, err)
			for _, each := range policy.rules {
				e.value(t.Context(), each.holds)
			}
			if cost := celconfig.RuntimeCELCostBudget - e.budget; cost > celconfig.RuntimeCELCostBudget/100 {
				t.Errorf("costs %d of %d", cost, celconfig.RuntimeCELCostBudget)
			}
		})
	}
}
