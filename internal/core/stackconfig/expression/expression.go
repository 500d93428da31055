package expression

import (
	"regexp"
	"regexp/syntax"
)

const (
	// maxText is the maximum length of an expression in bytes.
	maxText = 256
	// maxSize is the maximum size of a compiled expression (see size). A class such as \pL counts 650.
	maxSize = 1000
)

// Compile compiles an expression. It returns false if Go does not support the expression, or if the expression is too
// large.
func Compile(text string) (*regexp.Regexp, bool) {
	if len(text) > maxText {
		return nil, false
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil || size(parsed) > maxSize {
		return nil, false
	}
	compiled, err := regexp.Compile(text)
	return compiled, err == nil
}

// size returns the number of characters and ranges of characters in an expression whose repetitions are expanded, as
// they are when it is compiled. The parser bounds the number of repetitions.
func size(re *syntax.Regexp) int {
	total := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		total += size(sub)
	}
	if re.Op == syntax.OpRepeat {
		total *= max(re.Min, re.Max, 1)
	}
	return total
}
