package schema

import "slices"

// ProblemKind says what is wrong with a value.
type ProblemKind string

const (
	// UnknownKey: the class does not read the key. The server ignores it silently, or refuses it when the class
	// forbids unknown keys (Problem.Fatal).
	UnknownKey ProblemKind = "UnknownKey"
	// MissingKey: a required key is absent; the server does not start.
	MissingKey ProblemKind = "MissingKey"
	// WrongType: the value is not of the key's type; the server does not start.
	WrongType ProblemKind = "WrongType"
	// OutOfRange: the value has the right type and breaks a limit; the server does not start.
	OutOfRange ProblemKind = "OutOfRange"
	// ConflictingKeys: the key may not stand beside another one, which Want names; the server does not start.
	ConflictingKeys ProblemKind = "ConflictingKeys"
	// IncompleteKeys: the key needs others beside it, which Want names; the server does not start.
	IncompleteKeys ProblemKind = "IncompleteKeys"
	// MissingChoice: the mapping needs one of the keys that Want names; the server does not start.
	MissingChoice ProblemKind = "MissingChoice"
	// ConflictingValues: the values that Want names may not come together; the server does not start.
	ConflictingValues ProblemKind = "ConflictingValues"
	// DeprecatedKey: the key works, and the server asks not to use it.
	DeprecatedKey ProblemKind = "DeprecatedKey"
)

// Problem is one finding of a check.
type Problem struct {
	// Kind says what is wrong.
	Kind ProblemKind
	// Path leads from the checked node to the finding: `network.tls.verify`, `allowed_models[2]`. For a MissingKey
	// it ends in the missing key. It is empty when the checked node itself is meant.
	Path string
	// Want is what was expected, in words: the type, the limit, the other keys. It is empty for UnknownKey and
	// DeprecatedKey.
	Want string
	// Got names the kind of value that was found ("a string"), never the value itself, which may be a secret.
	Got string
	// Nearest is the known key that an unknown one most resembles, or empty.
	Nearest string
	// Fatal says that the server would not start.
	Fatal bool
}

// AnyFatal reports whether the server would not start with one of the problems.
func AnyFatal(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Fatal })
}
