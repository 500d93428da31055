package schema

import (
	"fmt"
	"strings"
)

// maxDepth limits the nesting of a type expression. The server's deepest expression has four levels.
const maxDepth = 32

// basics are the names of types that are not classes.
var basics = map[string]Kind{
	"Any":       KindAny,
	"null":      KindNull,
	"bool":      KindBool,
	"int":       KindInt,
	"float":     KindFloat,
	"str":       KindStr,
	"HttpUrl":   KindURL,
	"SecretStr": KindSecret,
	"Path":      KindPath,
}

// generics are the names of types that can have arguments.
var generics = map[string]Kind{
	"list":    KindList,
	"set":     KindList,
	"tuple":   KindList,
	"dict":    KindDict,
	"literal": KindLiteral,
	"enum":    KindLiteral,
}

// Parser parses type expressions. It caches the results, so that equal expressions share one *Expr. It is not safe for
// concurrent use.
type Parser struct {
	classes map[string]*Class
	seen    map[string]*Expr
}

// NewParser returns a parser that finds classes in the given map. A class can receive its keys after an expression that
// names the class has been parsed.
func NewParser(classes map[string]*Class) *Parser {
	return &Parser{classes: classes, seen: map[string]*Expr{}}
}

// Parse parses a type expression. It accepts a name that is neither built in nor a known class. A type with such a name
// accepts any value, because the value cannot be checked.
func (p *Parser) Parse(text string) (*Expr, error) {
	if e, ok := p.seen[text]; ok {
		return e, nil
	}
	s := &scanner{text: text, classes: p.classes}
	e, err := s.union(0)
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, fmt.Errorf("parse type expression %q: %w", text, err)
	}
	p.seen[text] = e
	return e, nil
}

// scanner reads one expression from left to right.
type scanner struct {
	text    string
	at      int
	classes map[string]*Class
}

// union reads terms separated by bars.
func (s *scanner) union(depth int) (*Expr, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	start := s.skipSpace()
	var members []*Expr
	for {
		member, err := s.term(depth)
		if err != nil {
			return nil, err
		}
		members = append(members, member)
		if !s.accept('|') {
			break
		}
	}
	if len(members) == 1 {
		return members[0], nil
	}
	return &Expr{Kind: KindUnion, Args: members, text: strings.TrimSpace(s.text[start:s.at])}, nil
}

// term reads a name and its arguments.
func (s *scanner) term(depth int) (*Expr, error) {
	start := s.skipSpace()
	name := s.name()
	if name == "" {
		return nil, fmt.Errorf("expected a type at offset %d", s.at)
	}
	e := s.named(name)
	if kind, ok := generics[name]; ok {
		e = &Expr{Kind: kind}
		if err := s.arguments(e, depth); err != nil {
			return nil, err
		}
	}
	e.text = strings.TrimSpace(s.text[start:s.at])
	return e, nil
}

// named returns the expression for a name, before its arguments are parsed.
func (s *scanner) named(name string) *Expr {
	if kind, ok := basics[name]; ok {
		return &Expr{Kind: kind}
	}
	if class, ok := s.classes[name]; ok {
		return &Expr{Kind: KindClass, Class: class}
	}
	return &Expr{Kind: KindAny}
}

// arguments reads the part in brackets after a generic name. A literal or enum requires the brackets. For any other
// name, missing brackets mean that the elements can have any type.
func (s *scanner) arguments(e *Expr, depth int) error {
	if !s.accept('[') {
		if e.Kind == KindLiteral {
			return fmt.Errorf("expected values in brackets at offset %d", s.at)
		}
		return nil
	}
	if e.Kind == KindLiteral {
		return s.values(e)
	}
	for {
		arg, err := s.union(depth + 1)
		if err != nil {
			return err
		}
		e.Args = append(e.Args, arg)
		if !s.accept(',') {
			break
		}
	}
	if e.Kind == KindDict && len(e.Args) != 2 {
		return fmt.Errorf("expected two types, for the keys and the values of a dict, found %d", len(e.Args))
	}
	return s.expect(']')
}

// values reads the values of a literal or enum up to its closing bracket.
func (s *scanner) values(e *Expr) error {
	rest := s.text[s.at:]
	end := strings.IndexAny(rest, "[]|")
	if end < 0 || rest[end] != ']' {
		return fmt.Errorf("expected values and a closing bracket at offset %d", s.at)
	}
	for value := range strings.SplitSeq(rest[:end], ",") {
		e.Values = append(e.Values, strings.TrimSpace(value))
	}
	s.at += end + 1
	return nil
}

func (s *scanner) name() string {
	start := s.at
	for s.at < len(s.text) && isNameByte(s.text[s.at]) {
		s.at++
	}
	return s.text[start:s.at]
}

func isNameByte(b byte) bool {
	return b == '_' || b == '.' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

func (s *scanner) skipSpace() int {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
	return s.at
}

// accept skips spaces and reads b. If the next byte after the spaces is not b, accept reads nothing and returns false.
func (s *scanner) accept(b byte) bool {
	before := s.at
	if s.skipSpace(); s.at < len(s.text) && s.text[s.at] == b {
		s.at++
		return true
	}
	s.at = before
	return false
}

func (s *scanner) expect(b byte) error {
	if !s.accept(b) {
		return fmt.Errorf("expected %q at offset %d", b, s.at)
	}
	return nil
}

func (s *scanner) end() error {
	if s.skipSpace(); s.at < len(s.text) {
		return fmt.Errorf("unexpected text at offset %d", s.at)
	}
	return nil
}
