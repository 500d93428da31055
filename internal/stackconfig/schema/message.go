package schema

import (
	"fmt"
	"strings"
)

// Message says what is wrong and what to do, as it continues after the path and a colon. It never holds a value.
func (p *Problem) Message() string {
	switch p.Kind {
	case UnknownKey:
		return p.unknownMessage()
	case MissingKey:
		return fmt.Sprintf("required key is missing; it takes %s", p.Want)
	case WrongType:
		return fmt.Sprintf("must be %s, found %s", wanted(p.Want), p.Got)
	case OutOfRange:
		return fmt.Sprintf("must be %s", p.Want)
	case ConflictingKeys:
		return fmt.Sprintf("may not stand beside %q; give one of the two", p.Want)
	case IncompleteKeys:
		return fmt.Sprintf("does nothing alone, the server refuses it; give %s too", p.Want)
	case MissingChoice:
		return fmt.Sprintf("one of these keys is required: %s", p.Want)
	case ConflictingValues:
		return fmt.Sprintf("the server refuses %s together; change one of them", p.Want)
	case DeprecatedKey:
		return "is deprecated by the server"
	}
	return string(p.Kind)
}

// wanted is a type as a reader sees it: of a choice the words to choose from.
func wanted(want string) string {
	for _, choice := range []string{"literal[", "enum["} {
		if words, ok := strings.CutPrefix(want, choice); ok && strings.Count(want, "]") == 1 && strings.HasSuffix(want, "]") {
			return "one of " + strings.TrimSuffix(words, "]")
		}
	}
	return want
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
