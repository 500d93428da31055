package refusal

import (
	"strconv"
	"strings"
)

// step is one step of a field path: the name of a field, or the index or key in brackets.
type step struct {
	name      string
	bracketed bool
}

// index returns the index of an item in a list, or -1 for other steps.
func (s step) index() int {
	if index, err := strconv.Atoi(s.name); err == nil && s.bracketed && index >= 0 {
		return index
	}
	return -1
}

// path is a field path, such as `spec.ports[0].name`.
type path []step

func parse(text string) path {
	var steps path
	for text = strings.TrimLeft(text, "."); text != ""; text = strings.TrimLeft(text, ".") {
		if rest, ok := strings.CutPrefix(text, "["); ok {
			key, after, _ := strings.Cut(rest, "]")
			steps, text = append(steps, step{name: key, bracketed: true}), after
			continue
		}
		end := strings.IndexAny(text, ".[")
		if end < 0 {
			end = len(text)
		}
		steps, text = append(steps, step{name: text[:end]}), text[end:]
	}
	return steps
}

func (p path) String() string {
	var text strings.Builder
	for _, one := range p {
		switch {
		case one.bracketed:
			text.WriteString("[" + one.name + "]")
		case text.Len() > 0:
			text.WriteString("." + one.name)
		default:
			text.WriteString(one.name)
		}
	}
	return text.String()
}

// after returns the steps after the given fields, and reports whether the path begins with these fields.
func (p path) after(fields ...string) (path, bool) {
	if len(p) < len(fields) {
		return nil, false
	}
	for i, name := range fields {
		if p[i].name != name {
			return nil, false
		}
	}
	return p[len(fields):], true
}

// at returns the value at the path. It returns false if there is none.
func (p path) at(value any) (any, bool) {
	for _, one := range p {
		found := false
		switch at := value.(type) {
		case map[string]any:
			value, found = at[one.name]
		case []any:
			if i := one.index(); i >= 0 && i < len(at) {
				value, found = at[i], true
			}
		}
		if !found {
			return nil, false
		}
	}
	return value, true
}

// field returns a path for a list of names, with indexes as numbers.
func field(parts ...any) path {
	steps := make(path, 0, len(parts))
	for _, part := range parts {
		switch part := part.(type) {
		case int:
			steps = append(steps, step{name: strconv.Itoa(part), bracketed: true})
		case string:
			steps = append(steps, step{name: part})
		}
	}
	return steps
}
