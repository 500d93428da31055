package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Message describes the problem and its remedy, in words that follow the path and a colon. It never contains the value
// that has the problem.
func (p *Problem) Message() string {
	switch p.Kind {
	case UnknownKey:
		return p.unknownMessage()
	case MissingKey:
		return fmt.Sprintf("required key is missing; its value must be %s", p.Want)
	case WrongType:
		return p.typeMessage()
	case OutOfRange:
		return fmt.Sprintf("must be %s", p.Want)
	case ConflictingKeys:
		return fmt.Sprintf("must not be set together with %q; remove one of the two", p.Want)
	case IncompleteKeys:
		return fmt.Sprintf("is incomplete, and the server rejects it; also set %s", p.Want)
	case MissingChoice:
		return fmt.Sprintf("one of these keys is required: %s", p.Want)
	case ConflictingValues:
		return fmt.Sprintf("the server rejects the combination of %s; change one of them", p.Want)
	case DeprecatedKey:
		return "is deprecated: a later server release might not accept this key; remove the key before you upgrade to such a release"
	}
	return string(p.Kind)
}

func (p *Problem) typeMessage() string {
	if strings.HasPrefix(p.Want, anyOf) && p.Got == valueNames[valueString] {
		return "must be " + p.Want // a string, but not one of the choices
	}
	text := fmt.Sprintf("must be %s, found %s", p.Want, p.Got)
	if p.Want == wordText && slices.Contains([]string{valueNames[valueInt], valueNames[valueFloat], valueNames[valueBool]},
		p.Got) {
		text += "; put it in quotes"
	}
	return text
}

func (p *Problem) unknownMessage() string {
	what := "unknown key; the server ignores it"
	if p.Fatal {
		what = "unknown key; the server rejects it"
	}
	if p.Nearest != "" {
		return what + fmt.Sprintf("; did you mean %q?", p.Nearest)
	}
	return what + "; remove the key"
}
