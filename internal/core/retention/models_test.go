package retention

import "testing"

// TestRuleSelects compares the models that a rule applies to with those of the server's matches_resource.
func TestRuleSelects(t *testing.T) {
	for resource, want := range map[string]bool{
		"model::vllm/a":             true,
		"model::vllm":               false,
		"model::*":                  true,
		"shield::*":                 false,
		"model::vllm/*":             false, // a wildcard stands for a whole ID
		"vllm/a":                    false,
		"regex:model::(vllm|tgi)/a": true,
		"regex:model::vllm":         true, // an expression applies to the start of a name
		"regex:vllm":                false,
		"regex:(":                   false,
		"regex:model::.{1,1000}":    false, // needs too much memory
	} {
		rule := newSelection(Rule{Resource: resource})
		if got := rule.selects("vllm/a"); got != want {
			t.Errorf("%q selects vllm/a: %t, want %t", resource, got, want)
		}
	}
}
