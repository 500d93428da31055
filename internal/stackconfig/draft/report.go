package draft

import (
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// EnvVar is an environment variable of the server: a plain value, or a key of a
// Secret.
type EnvVar struct {
	Name  string
	Value string
	// SecretName and SecretKey are set instead of Value.
	SecretName, SecretKey string
	// FieldPath is the field of the spec that asked for it.
	FieldPath string
}

// Report is what is told about a run, beside its result.
type Report struct {
	// Errors keep the configuration from being rolled out. Each detail stands for
	// itself: value, reason, remedy. An error of type NotFound is a resource whose
	// provider does not exist.
	Errors field.ErrorList
	// Warnings do not.
	Warnings []Finding

	// What Explain reads, made only when asked for.
	root    *yaml.Node
	origins map[*yaml.Node]Origin
}

// Finding is a warning.
type Finding struct {
	// Path is the field of the spec that caused it, empty when none did.
	Path string
	// ConfigPath is the place in the configuration, empty when it has none.
	ConfigPath string
	// Message is a sentence without a full stop.
	Message string
	// Ignored says that something the user configured has no effect.
	Ignored bool
	// Overrides says that an external provider takes the place of another one.
	Overrides bool
}

// String is the message behind the path it belongs to.
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
