package schema

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Check compares a mapping with the class and returns all problems: first those with the mapping's keys, in the order
// of the mapping, then the missing keys, in declared order, and then the broken rules. A nil node and null count as an
// empty mapping.
//
// The type of a string with an environment reference (`${env.NAME:=1}`) is determined at startup, so Check accepts the
// string wherever the class accepts a scalar of some type. Check does not follow aliases, because package baseconfig
// replaces the aliases of a base config with their targets.
func (c *Class) Check(node *yaml.Node) []Problem {
	if node == nil || node.Kind == yaml.ScalarNode && scalarKind(node) == valueNull {
		node = &yaml.Node{Kind: yaml.MappingNode}
	}
	return c.check(nil, node)
}

// Check returns all problems with the type, the limits and the content of a value of the key.
func (k *Key) Check(node *yaml.Node) []Problem { return k.check(nil, node) }

// Check returns all problems with a value that must have the type.
func (e *Expr) Check(node *yaml.Node) []Problem { return e.check(nil, node) }

func (c *Class) check(path *yamlnode.Path, node *yaml.Node) []Problem {
	if node.Kind != yaml.MappingNode {
		return wrongType(path, "a mapping", kindOf(node))
	}
	var problems []Problem
	given := make(map[string]bool, len(node.Content)/2)
	at := path.Below()
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i].Value, node.Content[i+1]
		key, ok := c.Key(name)
		if !ok {
			problems = append(problems, c.unknown(at.Key(name), name, len(problems) < maxNearest)...)
			continue
		}
		given[key.Name] = true
		if key.Deprecated {
			problems = append(problems, Problem{Kind: DeprecatedKey, Path: at.Key(name).String()})
		}
		problems = append(problems, key.check(at.Key(name), value)...)
	}
	problems = append(problems, c.missing(path, given)...)
	return append(problems, c.broken(path, node)...)
}

// maxNearest is the maximum number of problems in one mapping that name the most similar key. The search for that key
// takes longer than the rest of the check, and users do not read more problems than that.
const maxNearest = 100

// unknown returns the problem with a key that the class does not have, or nil if the class keeps such keys. nearest
// states whether the problem names the most similar key.
func (c *Class) unknown(path *yamlnode.Path, name string, nearest bool) []Problem {
	if c.Extra == ExtraAllow {
		return nil
	}
	problem := Problem{Kind: UnknownKey, Path: path.String(), Fatal: c.Extra == ExtraForbid}
	if nearest {
		problem.Nearest = c.candidates.Nearest(name)
	}
	return []Problem{problem}
}

// missing returns a problem for each missing required key.
func (c *Class) missing(path *yamlnode.Path, given map[string]bool) []Problem {
	var problems []Problem
	for i := range c.Keys {
		if k := &c.Keys[i]; k.Required && !given[k.Name] {
			problems = append(problems, Problem{
				Kind: MissingKey, Path: below(path, k.Name), Want: k.Type.Words(), Fatal: true,
			})
		}
	}
	return problems
}

func (k *Key) check(path *yamlnode.Path, node *yaml.Node) []Problem {
	problems := k.Type.check(path, node)
	if len(problems) > 0 || k.Limits == nil {
		return problems
	}
	return k.Limits.check(path, node)
}

func (e *Expr) check(path *yamlnode.Path, node *yaml.Node) []Problem {
	switch e.Kind {
	case KindUnion:
		return e.checkUnion(path, node)
	case KindClass:
		return e.Class.checkOrReference(path, node)
	case KindList:
		return e.checkList(path, node)
	case KindDict:
		return e.checkDict(path, node)
	case KindAny, KindNull, KindBool, KindInt, KindFloat, KindStr, KindURL, KindSecret, KindPath, KindLiteral:
	}
	if kind := kindOf(node); !e.accepts(kind, node) {
		return wrongType(path, e.Words(), kind)
	}
	return nil
}

// checkOrReference checks a node that must be a mapping. It accepts an alias.
func (c *Class) checkOrReference(path *yamlnode.Path, node *yaml.Node) []Problem {
	if kindOf(node) == valueUnknown {
		return nil
	}
	return c.check(path, node)
}

func (e *Expr) checkList(path *yamlnode.Path, node *yaml.Node) []Problem {
	switch kind := kindOf(node); kind {
	case valueUnknown:
		return nil
	case valueList:
	default:
		return wrongType(path, e.Words(), kind)
	}
	var problems []Problem
	place := path.Below()
	for i, item := range node.Content {
		// A tuple has a type for each position, and a list has one type for all items.
		if at := min(i, len(e.Args)-1); at >= 0 {
			problems = append(problems, e.Args[at].check(place.Item(i), item)...)
		}
	}
	return problems
}

func (e *Expr) checkDict(path *yamlnode.Path, node *yaml.Node) []Problem {
	switch kind := kindOf(node); kind {
	case valueUnknown:
		return nil
	case valueMapping:
	default:
		return wrongType(path, e.Words(), kind)
	}
	if len(e.Args) == 0 {
		return nil
	}
	var problems []Problem
	at := path.Below()
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		problems = append(problems, e.Args[0].check(at.Key(key.Value), key)...)
		problems = append(problems, e.Args[1].check(&at, value)...)
	}
	return problems
}

// checkUnion accepts a value that one member accepts. For a list or mapping that no member accepts, it reports the
// problems that checkTagged finds. If checkTagged returns false, checkUnion reports the problems for the member with
// the fewest problems among those that take the value's kind. For a scalar that no member accepts, it reports the wrong
// type.
func (e *Expr) checkUnion(path *yamlnode.Path, node *yaml.Node) []Problem {
	kind := kindOf(node)
	if kind == valueReference && !e.takesScalar() {
		return wrongType(path, e.Words(), kind)
	}
	if problems, ok := e.checkTagged(path, node); ok {
		return problems
	}
	var best []Problem
	for _, member := range e.Args {
		if !member.takes(kind) {
			continue
		}
		problems := member.check(path, node)
		if len(problems) == 0 {
			return nil
		}
		if best == nil || worse(best, problems) {
			best = problems
		}
	}
	if best == nil || fatal(best) > 0 && kind != valueMapping && kind != valueList {
		return wrongType(path, e.Words(), kind)
	}
	return best
}

// takes reports whether a value of the kind has the correct shape for the type.
func (e *Expr) takes(kind valueKind) bool {
	switch e.Kind {
	case KindClass, KindDict:
		return kind == valueMapping || kind == valueUnknown
	case KindList:
		return kind == valueList || kind == valueUnknown
	case KindAny:
		return true
	default:
		return kind != valueMapping && kind != valueList
	}
}

// takesScalar reports whether at least one member of a union accepts a scalar. A member that accepts only null counts
// too.
func (e *Expr) takesScalar() bool {
	return slices.ContainsFunc(e.Args, func(member *Expr) bool { return member.takes(valueString) })
}

// worse reports whether the first list of problems is worse than the second. It first compares the number of fatal
// problems, and then the total number of problems.
func worse(a, b []Problem) bool {
	if fa, fb := fatal(a), fatal(b); fa != fb {
		return fa > fb
	}
	return len(a) > len(b)
}

func fatal(problems []Problem) int {
	n := 0
	for i := range problems {
		if problems[i].Fatal {
			n++
		}
	}
	return n
}

func wrongType(path *yamlnode.Path, want string, got valueKind) []Problem {
	return []Problem{{Kind: WrongType, Path: path.String(), Want: want, Got: valueNames[got], Fatal: true}}
}

func below(path *yamlnode.Path, key string) string {
	at := path.Below()
	return at.Key(key).String()
}
