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

// ProblemKind is the kind of a problem with a value.
type ProblemKind string

const (
	// UnknownKey means that the class does not read the key. The server ignores it silently, or rejects it when the
	// class forbids unknown keys (Problem.Fatal).
	UnknownKey ProblemKind = "UnknownKey"
	// MissingKey means that a required key is absent. The server does not start.
	MissingKey ProblemKind = "MissingKey"
	// WrongType means that the value does not have the key's type. The server does not start.
	WrongType ProblemKind = "WrongType"
	// OutOfRange means that the value has the correct type, but breaks a limit. The server does not start.
	OutOfRange ProblemKind = "OutOfRange"
	// ConflictingKeys means that the key and the key in Want are mutually exclusive, or that their lists or mappings have
	// a value in common although they must not. The server does not start.
	ConflictingKeys ProblemKind = "ConflictingKeys"
	// IncompleteKeys means that the key requires the other keys that Want names. The server does not start.
	IncompleteKeys ProblemKind = "IncompleteKeys"
	// MissingChoice means that the mapping needs one of the keys in Want. The server does not start.
	MissingChoice ProblemKind = "MissingChoice"
	// ConflictingValues means that the values in Want are mutually exclusive. The server does not start.
	ConflictingValues ProblemKind = "ConflictingValues"
	// DeprecatedKey means that the key works, but that the server advises against it.
	DeprecatedKey ProblemKind = "DeprecatedKey"
)

// Problem is one finding of a check.
type Problem struct {
	// Kind is the kind of the problem.
	Kind ProblemKind
	// Path is the path from the checked node to the finding, for example `network.tls.verify` or `allowed_models[2]`.
	// For a MissingKey, it ends with the missing key. Empty means the checked node itself.
	Path string
	// Want describes the expected type or limit, the other keys that the problem involves, or the conflicting values. It
	// is empty for UnknownKey and DeprecatedKey.
	Want string
	// Got is the kind of the value ("a whole number"). It is never the value itself, which might be a secret.
	Got string
	// Nearest is the name of the known key that is most similar to the unknown key, or empty.
	Nearest string
	// Fatal reports whether the problem prevents the server from starting.
	Fatal bool
}

// AnyFatal reports whether one of the problems prevents the server from starting.
func AnyFatal(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Fatal })
}
