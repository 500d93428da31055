package schema

import "fmt"

// Message says what is wrong and what to do, as it continues after the path and a colon. It never holds a value.
func (p *Problem) Message() string {
	switch p.Kind {
	case UnknownKey:
		return p.unknownMessage()
	case MissingKey:
		return fmt.Sprintf("required key is missing; it takes %s", p.Want)
	case WrongType:
		return fmt.Sprintf("must be %s, found %s", p.Want, p.Got)
	case OutOfRange:
		return fmt.Sprintf("must be %s", p.Want)
	case ConflictingKeys:
		return fmt.Sprintf("may not stand beside %q; give one of the two", p.Want)
	case IncompleteKeys:
		return fmt.Sprintf("does nothing alone, the server refuses it; give %s too", p.Want)
	case MissingChoice:
		return fmt.Sprintf("one of these keys is required: %s", p.Want)
	case DeprecatedKey:
		return "is deprecated by the server"
	}
	return string(p.Kind)
}

func (p *Problem) unknownMessage() string {
	what := "unknown key, the server ignores it"
	if p.Fatal {
		what = "unknown key, the server refuses it"
	}
	if p.Nearest != "" {
		what += fmt.Sprintf("; did you mean %q?", p.Nearest)
	}
	return what
}
