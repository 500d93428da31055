package schema

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// RuleKind is the kind of a rule: the relation that its keys must have.
type RuleKind string

const (
	// Exclusive forbids the first key together with any of the others.
	Exclusive RuleKind = "exclusive"
	// Together requires all of the keys or none of the keys.
	Together RuleKind = "together"
	// AnyOf requires at least one of the keys.
	AnyOf RuleKind = "any_of"
	// Below requires the first key's number to be less than the second key's number. An absent key has its default.
	Below RuleKind = "below"
	// NotAbove requires the first key's number to be at most the second key's number. An absent key has its default.
	NotAbove RuleKind = "not_above"
	// Disjoint requires that two lists or mappings have no value in common, regardless of case.
	Disjoint RuleKind = "disjoint"
	// A Never rule is broken if all conditions in If are met. The problem is reported at the first key.
	Never RuleKind = "never"
)

// Rule is a condition on several keys of a class. The server does not start when the rule is broken (server fact 14). A
// key whose value is null or an empty string counts as absent. If the environment determines whether a key has a value
// (`${env.TOKEN:=}`), the key counts neither as present nor as absent.
type Rule struct {
	Kind RuleKind `json:"kind"`
	Keys []string `json:"keys"`
	// The list If contains the conditions under which the rule applies. If the list is empty, the rule always applies.
	If []Condition `json:"if,omitempty"`
}

// presence states whether a key has a value.
type presence int

const (
	absent presence = iota
	present
	undecided // depends on the environment at startup
)

func presenceOf(node *yaml.Node) presence {
	switch kind := kindOf(node); {
	case kind == valueNull || kind == valueString && node.Value == "":
		return absent
	case kind == valueUnknown || kind == valueReference && maybeEmpty(node.Value):
		return undecided
	default:
		return present
	}
}

// maybeEmpty reports whether a string is a reference whose value can be null, depending on whether its variable is set.
func maybeEmpty(text string) bool {
	reference, whole := envref.Server.Whole(text)
	return whole && (reference.Operator == envref.Alternative || reference.Operator == envref.Default &&
		reference.Text == "")
}

// broken returns the problems for the rules that a mapping breaks, in the order of the rules.
func (c *Class) broken(path *yamlnode.Path, node *yaml.Node) []Problem {
	if len(c.Rules) == 0 {
		return nil
	}
	given := map[string]presence{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key, ok := c.Key(node.Content[i].Value); ok {
			given[key.Name] = presenceOf(node.Content[i+1])
		}
	}
	var problems []Problem
	for _, rule := range c.Rules {
		if !c.met(rule.If, node) {
			continue
		}
		if p := c.breaks(rule, path, node, given); p != nil {
			problems = append(problems, *p)
		}
	}
	return problems
}

// breaks returns the problem if a mapping breaks a rule, or nil. The mapping must meet the conditions of the rule.
func (c *Class) breaks(rule Rule, path *yamlnode.Path, node *yaml.Node, given map[string]presence) *Problem {
	switch rule.Kind {
	case Below, NotAbove:
		return c.order(rule, path, node)
	case Disjoint:
		return c.disjoint(rule, path, node)
	case Never:
		return &Problem{Kind: ConflictingValues, Path: below(path, rule.Keys[0]), Want: together(rule.If), Fatal: true}
	default:
		return rule.check(path, given)
	}
}

// check returns the problem if the keys that have a value break the rule, or nil.
func (r Rule) check(path *yamlnode.Path, given map[string]presence) *Problem {
	with := map[presence][]string{}
	for _, key := range r.Keys {
		with[given[key]] = append(with[given[key]], key)
	}
	there := with[present]
	switch {
	case r.Kind == Exclusive && len(there) > 1 && there[0] == r.Keys[0]:
		return &Problem{Kind: ConflictingKeys, Path: below(path, there[1]), Want: there[0], Fatal: true}
	case r.Kind == Together && len(there) > 0 && len(with[absent]) > 0:
		missing := strings.Join(with[absent], ", ")
		return &Problem{Kind: IncompleteKeys, Path: below(path, there[0]), Want: missing, Fatal: true}
	case r.Kind == AnyOf && len(with[absent]) == len(r.Keys):
		return &Problem{Kind: MissingChoice, Path: path.String(), Want: strings.Join(r.Keys, ", ") + r.when(), Fatal: true}
	}
	return nil
}

// when returns the conditions as text for the end of a message.
func (r Rule) when() string {
	if len(r.If) == 0 {
		return ""
	}
	return " (with " + together(r.If) + ")"
}

// order returns the problem if the numbers of two keys are in the wrong order, or nil. It accepts values that are not
// plain numbers.
func (c *Class) order(rule Rule, path *yamlnode.Path, node *yaml.Node) *Problem {
	low, okLow := c.number(rule.Keys[0], node)
	high, okHigh := c.number(rule.Keys[1], node)
	if !okLow || !okHigh || low < high || (low == high && rule.Kind == NotAbove) {
		return nil
	}
	want := "less than " + rule.Keys[1]
	if rule.Kind == NotAbove {
		want = "at most " + rule.Keys[1]
	}
	return &Problem{Kind: OutOfRange, Path: below(path, rule.Keys[0]), Want: want, Fatal: true}
}

// number returns the number that a key sets, or the key's default. It returns false if that value is not a plain
// number.
func (c *Class) number(name string, node *yaml.Node) (float64, bool) {
	key, _ := c.Key(name)
	text := fmt.Sprint(key.Default)
	if value := c.valueOf(name, node); value != nil {
		text = value.Value
		if kindOf(value) == valueBool {
			text = boolAsNumber(text)
		}
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil
}

// disjoint returns the problem if the lists or mappings of two keys have a value in common, or nil.
func (c *Class) disjoint(rule Rule, path *yamlnode.Path, node *yaml.Node) *Problem {
	taken := make(map[string]bool)
	for _, value := range valuesOf(c.valueOf(rule.Keys[1], node)) {
		taken[value] = true
	}
	for _, value := range valuesOf(c.valueOf(rule.Keys[0], node)) {
		if taken[value] {
			return &Problem{Kind: ConflictingKeys, Path: below(path, rule.Keys[0]), Want: rule.Keys[1], Fatal: true}
		}
	}
	return nil
}

// valueOf returns the value of a key or one of its aliases in a mapping, or nil when there is none.
func (c *Class) valueOf(name string, node *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key, ok := c.Key(node.Content[i].Value); ok && key.Name == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// valuesOf returns the strings among the items of a list or the values of a mapping, trimmed and in lower case.
func valuesOf(node *yaml.Node) []string {
	if node == nil {
		return nil
	}
	var values []string
	for i, item := range node.Content {
		if kindOf(item) == valueString && (node.Kind == yaml.SequenceNode || i%2 == 1) {
			values = append(values, strings.ToLower(strings.TrimSpace(item.Value)))
		}
	}
	return values
}
