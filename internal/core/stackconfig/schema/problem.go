package schema

import "slices"

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
