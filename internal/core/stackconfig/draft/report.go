package draft

import (
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// EnvVar is an environment variable of the server, with a plain value or with the value of a key in a Secret.
type EnvVar struct {
	Name  string
	Value string
	// SecretName and SecretKey identify the key in a Secret. They are set instead of Value.
	SecretName, SecretKey string
	// FieldPath is the field of the spec that requires the variable.
	FieldPath string
}

// Report holds the findings and the origins of a run.
type Report struct {
	// Errors prevent the rollout of the configuration. The detail of an error contains the reason and, in most cases, the
	// value and the remedy. An error of type NotFound means that the provider of a resource does not exist.
	Errors field.ErrorList
	// Warnings do not prevent the rollout.
	Warnings []Finding

	// These fields are the input of Explain. They are kept so that the explanation is computed only on demand.
	root    *yaml.Node
	origins map[*yaml.Node]Origin
}

// Finding is a warning.
type Finding struct {
	// Path is the field of the spec that caused the warning. Empty means that no field caused it.
	Path string
	// ConfigPath is the place in the configuration. Empty means that the warning does not refer to a place in the
	// configuration.
	ConfigPath string
	// Message is a sentence without a period at the end.
	Message string
	// Ignored reports whether a part of the user's configuration has no effect.
	Ignored bool
	// Overrides reports whether an external provider replaces another provider.
	Overrides bool
}

// String returns the path, if there is one, followed by the message.
func (f Finding) String() string {
	switch {
	case f.Path != "":
		return f.Path + ": " + f.Message
	case f.ConfigPath != "":
		return f.ConfigPath + ": " + f.Message
	default:
		return f.Message
	}
}
