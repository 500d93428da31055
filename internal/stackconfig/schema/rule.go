package schema

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// RuleKind says how the keys of a rule belong together.
type RuleKind string

const (
	// Exclusive: the first key may not stand beside any of the others.
	Exclusive RuleKind = "exclusive"
	// Together: all of the keys or none of them.
	Together RuleKind = "together"
	// AnyOf: at least one of the keys.
	AnyOf RuleKind = "any_of"
)

// Rule is a condition on several keys of a class; the server does not start when it is broken. A key that is null or empty
// counts as absent. A rule is not applied where the environment decides whether a key has a value (`${env.TOKEN:=}`).
type Rule struct {
	Kind RuleKind `json:"kind"`
	Keys []string `json:"keys"`
}

// presence says whether a key has a value.
type presence int

const (
	absent presence = iota
	present
	undecided // the environment decides at start
)

// maybeEmpty is a reference that is null while its variable is unset, or while it is set.
var maybeEmpty = regexp.MustCompile(`^\$\{env\.[A-Z0-9_]+:(?:=|\+[^}]*)\}$`)

func presenceOf(node *yaml.Node) presence {
	switch kind := kindOf(node); {
	case kind == valueNull || kind == valueString && node.Value == "":
		return absent
	case kind == valueUnknown || kind == valueReference && maybeEmpty.MatchString(node.Value):
		return undecided
	default:
		return present
	}
}

// broken returns the problems of the rules of the class, in their order.
func (c *Class) broken(path string, node *yaml.Node) []Problem {
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
		if p := rule.check(path, given); p != nil {
			problems = append(problems, *p)
		}
	}
	return problems
}

// check returns what is wrong with the keys that have a value.
func (r Rule) check(path string, given map[string]presence) *Problem {
	with := map[presence][]string{}
	for _, key := range r.Keys {
		with[given[key]] = append(with[given[key]], key)
	}
	there := with[present]
	switch {
	case r.Kind == Exclusive && len(there) > 1 && there[0] == r.Keys[0]:
		return &Problem{Kind: ConflictingKeys, Path: join(path, there[1]), Want: there[0], Fatal: true}
	case r.Kind == Together && len(there) > 0 && len(with[absent]) > 0:
		return &Problem{Kind: IncompleteKeys, Path: join(path, there[0]), Want: strings.Join(with[absent], ", "), Fatal: true}
	case r.Kind == AnyOf && len(with[absent]) == len(r.Keys):
		return &Problem{Kind: MissingChoice, Path: path, Want: strings.Join(r.Keys, ", "), Fatal: true}
	}
	return nil
}
