package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// check returns a problem if a value breaks a limit. It accepts null and every reference.
func (l *Limits) check(path *yamlnode.Path, node *yaml.Node) []Problem {
	var want string
	switch kind := kindOf(node); kind {
	case valueInt, valueFloat:
		want = l.numberLimit(node.Value)
	case valueBool:
		want = l.numberLimit(boolAsNumber(node.Value)) // the server's parser converts a boolean to a number
	case valueString:
		want = l.stringLimit(node.Value)
	case valueList, valueMapping:
		want = l.lengthLimit(entries(node), kind)
		if want == "" && l.Values != nil {
			return l.Values.checkValues(path, node)
		}
	case valueNull, valueReference, valueTimestamp, valueUnknown:
	}
	if want == "" {
		return nil
	}
	return []Problem{{Kind: OutOfRange, Path: path.String(), Want: want, Got: valueNames[kindOf(node)], Fatal: true}}
}

func boolAsNumber(value string) string {
	if isTrue(value) {
		return "1"
	}
	return "0"
}

// checkValues checks each value of a list or a mapping against the limits.
func (l *Limits) checkValues(path *yamlnode.Path, node *yaml.Node) []Problem {
	var problems []Problem
	at := path.Below()
	for i, item := range node.Content {
		switch {
		case node.Kind == yaml.SequenceNode:
			problems = append(problems, l.check(at.Item(i), item)...)
		case i%2 == 1:
			problems = append(problems, l.check(at.Key(node.Content[i-1].Value), item)...)
		}
	}
	return problems
}

func entries(node *yaml.Node) int {
	if node.Kind == yaml.MappingNode {
		return len(node.Content) / 2
	}
	return len(node.Content)
}

// numberLimit returns the limit that a number breaks, or an empty string. It accepts a number that is not in plain
// decimal notation (octal, sexagesimal).
func (l *Limits) numberLimit(value string) string {
	digits := strings.TrimLeft(strings.ReplaceAll(value, "_", ""), "+-")
	n, err := strconv.ParseFloat(strings.ReplaceAll(value, "_", ""), 64)
	if err != nil || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return ""
	}
	switch {
	case l.AtLeast != nil && n < *l.AtLeast:
		return fmt.Sprintf("at least %v", *l.AtLeast)
	case l.Above != nil && n <= *l.Above:
		return fmt.Sprintf("more than %v", *l.Above)
	case l.AtMost != nil && n > *l.AtMost:
		return fmt.Sprintf("at most %v", *l.AtMost)
	case l.Below != nil && n >= *l.Below:
		return fmt.Sprintf("less than %v", *l.Below)
	}
	return ""
}

func (l *Limits) stringLimit(value string) string {
	// The server's parser converts a string to a number for a key that requires a number, so the limits for a number
	// also apply to the string.
	if want := l.numberLimit(strings.TrimSpace(value)); want != "" {
		return want
	}
	if want := l.lengthLimit(utf8.RuneCountInString(value), valueString); want != "" {
		return want
	}
	for _, part := range l.Contains {
		if !strings.Contains(value, part) {
			return "text with " + part
		}
	}
	if slices.ContainsFunc(l.Not, func(text string) bool { return strings.EqualFold(strings.TrimSpace(value), text) }) {
		return "a value other than " + strings.Join(l.Not, ", ")
	}
	if l.Pattern == "" {
		return ""
	}
	if pattern, err := regexp.Compile(l.Pattern); err == nil && !pattern.MatchString(value) {
		return cmp.Or(l.Means, "text that matches "+l.Pattern)
	}
	return ""
}

// lengthLimit returns the limit that the length of a value breaks, or an empty string.
func (l *Limits) lengthLimit(length int, kind valueKind) string {
	switch {
	case l.MinLength != nil && length < *l.MinLength:
		return fmt.Sprintf("%s of at least %s", valueNames[kind], lengthOf(*l.MinLength, kind))
	case l.MaxLength != nil && length > *l.MaxLength:
		return fmt.Sprintf("%s of at most %s", valueNames[kind], lengthOf(*l.MaxLength, kind))
	}
	return ""
}

// lengthOf returns a length with its unit, such as "1 entry" or "8 characters".
func lengthOf(length int, kind valueKind) string {
	one, many := "entry", "entries"
	if kind == valueString {
		one, many = "character", "characters"
	}
	if length == 1 {
		return "1 " + one
	}
	return strconv.Itoa(length) + " " + many
}
