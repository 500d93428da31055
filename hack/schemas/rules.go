package main

import (
	"regexp"
	"strings"
)

// These patterns match those rules in the CustomResourceDefinition that a schema can express. Only the API server
// checks the other rules.
var (
	matchesRule  = regexp.MustCompile(`^(self == '\*' \|\| )?self\.matches\('([^']+)'\)(?: && !self\.matches\('([^']+)'\))?$`)
	hasRule      = regexp.MustCompile(`^has\(self\.(\w+)\)$`)
	eitherRule   = regexp.MustCompile(`^has\(self\.(\w+)\) \|\| has\(self\.(\w+)\)$`)
	excludeRule  = regexp.MustCompile(`^!has\(self\.(\w+)\) \|\| !has\(self\.(\w+)\)(?: \|\| \(oldSelf.*\))?$`)
	onlyTypeRule = regexp.MustCompile(`^!has\(self\.(\w+)\) \|\| \(has\(self\.type\) && self\.type == '(\w+)'\)$`)
	withTypeRule = regexp.MustCompile(`^has\(self\.(\w+)\) \|\| !has\(self\.type\) \|\| self\.type != '(\w+)'$`)
	enabledRule  = regexp.MustCompile(`^!has\(self\.(\w+)\) \|\| !self\.\w+ \|\| has\(self\.(\w+)\)$`)
	neededRule   = regexp.MustCompile(`^!has\(self\.(\w+)\) \|\| \(has\(self\.(\w+)\) && self\.\w+\)$`)
	keysRule     = regexp.MustCompile(`^self\.all\(name, name\.matches\('([^']+)'\)\)$`)
)

// addRules adds those rules of a field that a schema can express.
func addRules(to, from object) {
	rules, _ := from["x-kubernetes-validations"].([]any)
	for _, each := range rules {
		rule, _ := each.(object)
		text, _ := rule["rule"].(string)
		if !addText(to, rule, text) {
			addObject(to, rule, text)
		}
	}
}

// addText adds a rule on a string or on the keys of a map. It returns false for any other rule.
func addText(to, rule object, text string) bool {
	if found := matchesRule.FindStringSubmatch(text); found != nil {
		to["pattern"] = portable(found[2])
		if found[1] != "" {
			to["pattern"] = `^\*$|` + portable(found[2])
		}
		if found[3] != "" {
			to["not"] = object{"pattern": portable(found[3])}
		}
		if message := messageOf(rule); message != "" {
			to["patternErrorMessage"] = message
		}
		return true
	}
	if found := keysRule.FindStringSubmatch(text); found != nil {
		to["propertyNames"] = object{"pattern": portable(found[1])}
		return true
	}
	return false
}

// addObject adds a rule on one or more fields of an object. It ignores any other rule.
func addObject(to, rule object, text string) {
	add := func(schema object) {
		all, _ := to["allOf"].([]any)
		to["allOf"] = append(all, schema)
	}
	is := func(field string, value any) object {
		return object{"properties": object{field: object{"const": value}}, "required": []any{field}}
	}
	without := func(field string) object { return object{"properties": object{field: false}} }
	if found := hasRule.FindStringSubmatch(text); found != nil {
		required, _ := to["required"].([]any)
		to["required"] = append(required, found[1])
		if message, _ := rule["message"].(string); message != "" {
			to["errorMessage"] = strings.ToUpper(message[:1]) + message[1:] + "."
		}
	} else if found := eitherRule.FindStringSubmatch(text); found != nil {
		to["anyOf"] = []any{object{"required": []any{found[1]}}, object{"required": []any{found[2]}}}
	} else if found := excludeRule.FindStringSubmatch(text); found != nil {
		add(object{"if": object{"required": []any{found[1]}}, "then": without(found[2])})
	} else if found := onlyTypeRule.FindStringSubmatch(text); found != nil {
		add(object{"if": is("type", found[2]), "else": without(found[1])})
	} else if found := withTypeRule.FindStringSubmatch(text); found != nil {
		add(object{"if": is("type", found[2]), "then": object{"required": []any{found[1]}}})
	} else if found := enabledRule.FindStringSubmatch(text); found != nil {
		add(object{"if": is(found[1], true), "then": object{"required": []any{found[2]}}})
	} else if found := neededRule.FindStringSubmatch(text); found != nil {
		add(object{"if": is(found[2], true), "else": without(found[1])})
	}
}

// messageOf returns the message of a rule as a sentence that does not contain the value. It returns an empty string if
// the message does not begin with the value.
func messageOf(rule object) string {
	text, _ := rule["messageExpression"].(string)
	text, ok := strings.CutPrefix(text, `'"' + self + '" `)
	text, end := strings.CutSuffix(text, "'")
	if !ok || !end {
		return ""
	}
	return "The value " + text + "."
}

// portable returns a Go regular expression in a form that has the same meaning in JavaScript.
func portable(pattern string) string {
	return strings.NewReplacer("[[]", `\[`, "[]]", `\]`, "[:space:]", `\s`).Replace(pattern)
}
