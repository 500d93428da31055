package corpus

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// maxNesting is the maximum depth of a value that consists of classes.
const maxNesting = 4

// values creates values of the types in the release data. It chooses randomly, or it always chooses the first
// alternative and all keys.
type values struct {
	// rand is nil if no choice is random.
	rand *rand.Rand
}

// pick returns one of n indexes, or the first if no choice is random.
func (v *values) pick(n int) int {
	if v.rand == nil {
		return 0
	}
	return v.rand.IntN(n)
}

// chance returns true with the given probability in percent, or always if no choice is random.
func (v *values) chance(percent int) bool { return v.rand == nil || v.rand.IntN(100) < percent }

func oneOf[T any](v *values, from []T) T { return from[v.pick(len(from))] }

// of returns a value of a type within limits. It returns false if this package cannot create such a value.
func (v *values) of(expr *schema.Expr, limits *schema.Limits, depth int) (any, bool) {
	switch expr.Kind {
	case schema.KindBool:
		return v.pick(2) == 0, true
	case schema.KindInt:
		return v.number(limits), true
	case schema.KindFloat:
		return v.fraction(limits), true
	case schema.KindStr, schema.KindSecret, schema.KindAny:
		return v.text(limits)
	case schema.KindURL:
		return "http://elsewhere.example:8000/v1", true
	case schema.KindPath:
		return "/etc/hosts", true // a file that exists on every machine
	case schema.KindLiteral:
		return oneOf(v, expr.Values), true
	case schema.KindList:
		return v.list(expr, limits, depth)
	case schema.KindDict:
		return v.dict(expr, limits, depth)
	case schema.KindUnion:
		return v.union(expr, limits, depth)
	case schema.KindClass:
		return v.class(expr.Class, depth)
	default:
		return nil, false
	}
}

func (v *values) number(limits *schema.Limits) int {
	low, high := 200, 400
	if limits != nil {
		if limits.AtLeast != nil {
			low = max(int(*limits.AtLeast), 1)
			high = low + 1
		}
		if limits.Above != nil {
			low = int(*limits.Above) + 1
			high = low + 1
		}
		if limits.AtMost != nil {
			high = int(*limits.AtMost)
			low = min(low, high)
		}
	}
	return low + v.pick(high-low+1)
}

func (v *values) fraction(limits *schema.Limits) json.Number {
	if limits != nil && limits.AtLeast != nil && *limits.AtLeast >= 1 {
		return json.Number("1.5")
	}
	return json.Number(oneOf(v, []string{"0.5", "0.25", "1.0"}))
}

// texts lists strings that some YAML parsers read as values of a different type.
var texts = []string{
	"text", "yes", "12:30", "1_000", "a: b", "two\nlines", "=", "2024-01-01", "it's", "0x1F", "~", "null", "1e5",
	" padded ", "#hash",
}

// wellFormed contains strings that match the patterns of some keys.
var wellFormed = []string{
	"cl100k_base", "otel_trace, sqlite", "ECDHE-RSA-AES128-GCM-SHA256", "X-Tenant", "user is owner",
	"user with admin in roles", "https://service.example:9200", "file_search", "knowledge_search",
	"postgresql://stack@database.example:5432/stack",
}

// text returns a string within limits.
func (v *values) text(limits *schema.Limits) (any, bool) {
	if limits == nil {
		return oneOf(v, texts), true
	}
	choices := texts
	if limits.Pattern != "" {
		pattern, err := regexp.Compile(limits.Pattern)
		if err != nil {
			return nil, false
		}
		choices = slices.DeleteFunc(slices.Clone(wellFormed), func(text string) bool { return !pattern.MatchString(text) })
	}
	if len(choices) == 0 {
		return nil, false
	}
	return strings.Join(append([]string{oneOf(v, choices)}, limits.Contains...), " "), true
}

func (v *values) list(expr *schema.Expr, limits *schema.Limits, depth int) (any, bool) {
	items := make([]any, 0, len(expr.Args))
	for _, arg := range expr.Args {
		item, ok := v.of(arg, valueLimits(limits), depth+1)
		if !ok {
			return nil, false
		}
		items = append(items, item)
	}
	return items, true
}

// valueLimits returns the limits of the values in a list or a mapping.
func valueLimits(limits *schema.Limits) *schema.Limits {
	if limits == nil {
		return nil
	}
	return limits.Values
}

func (v *values) dict(expr *schema.Expr, limits *schema.Limits, depth int) (any, bool) {
	if len(expr.Args) < 2 {
		return fields{"key": "value"}, true
	}
	value, ok := v.of(expr.Args[1], valueLimits(limits), depth+1)
	return fields{"key": value}, ok
}

func (v *values) union(expr *schema.Expr, limits *schema.Limits, depth int) (any, bool) {
	members := slices.DeleteFunc(slices.Clone(expr.Args), func(e *schema.Expr) bool { return e.Kind == schema.KindNull })
	for len(members) > 0 {
		i := v.pick(len(members))
		if value, ok := v.of(members[i], limits, depth); ok {
			return value, true
		}
		members = slices.Delete(members, i, i+1)
	}
	return nil, false
}

// class returns a mapping with the keys of a class.
func (v *values) class(class *schema.Class, depth int) (any, bool) {
	if class == nil || depth >= maxNesting {
		return nil, false
	}
	mapping := fields{}
	names := v.keys(class, nil)
	if tag, ok := class.Key("type"); ok && tag.Type.Kind == schema.KindLiteral && !slices.Contains(names, "type") {
		names = append(names, "type") // the key "type" identifies the class of a union
	}
	for _, name := range names {
		key, _ := class.Key(name)
		value, ok := v.key(class, &key, depth+1)
		if !ok && key.Required {
			return nil, false
		}
		if ok {
			mapping[name] = value
		}
	}
	return mapping, true
}

// key returns a value for one key of a class. If the key is `backend`, the value is a backend that every configuration
// contains.
func (v *values) key(class *schema.Class, key *schema.Key, depth int) (any, bool) {
	if key.Name == "backend" {
		if _, isKV := class.Key("namespace"); isKV {
			return release.KVDefault, true
		}
		return release.SQLDefault, true
	}
	if key.Name == "route_policy" { // a rule must permit the probes
		return []any{fields{"permit": fields{"paths": "*"}}}, true
	}
	return v.of(key.Type, key.Limits, depth)
}

// keys returns the keys of a class to set: the required keys, and random other keys that the class's rules allow. If no
// choice is random, keys returns all keys that these rules allow, except for deprecated and internal keys. The keys in
// the parameter done are already set.
func (v *values) keys(class *schema.Class, done map[string]bool) []string {
	return choose(class, done, func(key *schema.Key) bool { return !key.Deprecated && !key.Internal && v.chance(25) })
}

// required returns the keys without which a class cannot be loaded.
func required(class *schema.Class, done map[string]bool) []string {
	return choose(class, done, func(*schema.Key) bool { return false })
}

// choose returns the required keys and the keys for which the function wanted returns true, in the order of the class.
// It changes the selection until the rules of the class are satisfied.
func choose(class *schema.Class, done map[string]bool, wanted func(*schema.Key) bool) []string {
	chosen, banned := map[string]bool{}, map[string]bool{}
	for i := range class.Keys {
		if key := &class.Keys[i]; key.Required || done[key.Name] || wanted(key) {
			chosen[key.Name] = true
		}
	}
	for _, rule := range class.Rules {
		obey(rule, chosen, done, banned)
	}
	var names []string
	for i := range class.Keys {
		if name := class.Keys[i].Name; chosen[name] && !done[name] {
			names = append(names, name)
		}
	}
	return names
}

// obey adds and removes keys so that a rule is satisfied, and adds the removed keys to the parameter banned. If keys
// exclude each other, it keeps those that the parameter done contains. If keys are valid only together and one of them
// is banned, it removes all of them.
func obey(rule schema.Rule, chosen, done, banned map[string]bool) {
	has := func(keys []string, set map[string]bool) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return set[key] })
	}
	drop := func(keys ...string) {
		for _, key := range keys {
			delete(chosen, key)
			banned[key] = true
		}
	}
	first, others := rule.Keys[0], rule.Keys[1:]
	switch {
	case rule.Kind == schema.Exclusive && chosen[first] && !has(others, done):
		drop(others...)
	case rule.Kind == schema.Exclusive && has(others, chosen):
		drop(first)
	case rule.Kind == schema.Together && has(rule.Keys, banned):
		drop(rule.Keys...)
	case rule.Kind == schema.Together && has(rule.Keys, chosen):
		for _, key := range rule.Keys {
			chosen[key] = true
		}
	case rule.Kind == schema.AnyOf && !has(rule.Keys, chosen):
		chosen[first] = true
	}
}
