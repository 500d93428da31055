package registry

import "fmt"

// Image is what an image says of itself.
type Image struct {
	// Digest is what the image's name stands for now: sha256:…, of the index where
	// there is one. A pod that names it runs what was read.
	Digest string
	// Config is the configuration that the image comes with. Nil: it has none in its
	// labels.
	Config []byte
	// ConfigLabel is the label that led to Config, ConfigFile the path of the file in a layer that holds it. Empty: the
	// label holds it.
	ConfigLabel, ConfigFile string
	// ConfigVersion is the schema version of Config, as a label says it. Empty: none does. The configuration's own word
	// counts.
	ConfigVersion string
	// Release is the release of the server in the image, 0.7.3, as its labels say it.
	// Empty: they do not.
	Release string
	// ReleaseLabel is the label that says Release.
	ReleaseLabel string
	// Provider is what an external provider's image says of it, as its label LabelProvider has it. Empty: it has no such
	// label, or the image was read as that of a server.
	Provider string
	// Entrypoint is the program, with its arguments, that the image starts. Nil: the image has none, or one that needs
	// the arguments of its CMD too, which a command in a pod would drop.
	Entrypoint []string
}

// RefusedError says that an image is not read because the administrator does not
// want its registry to be asked.
type RefusedError struct {
	Repository string
	// Mirrored reports whether a mirror set of the cluster refuses it.
	Mirrored bool
}

// Error names the repository and the setting that refuses it.
func (e *RefusedError) Error() string {
	if e.Mirrored {
		return fmt.Sprintf("repository %q may not be asked by a mirror set of the cluster (mirrorSourcePolicy NeverContactSource), which has no mirror for it", e.Repository)
	}
	return fmt.Sprintf("repository %q is none of registries.allow in the operator's configuration", e.Repository)
}

// LabelError says that a label of an image, or what it points to, cannot be used.
// It stays so until the image changes.
type LabelError struct {
	Label string
	Err   error
}

// Error names the label and the cause.
func (e *LabelError) Error() string { return fmt.Sprintf("label %q: %v", e.Label, e.Err) }

// Unwrap returns the cause.
func (e *LabelError) Unwrap() error { return e.Err }

// limitError says that something is larger than it may be.
type limitError struct {
	what  string
	limit int64
}

func tooLarge(what string, limit int64) error { return &limitError{what: what, limit: limit} }

// Error names the limit.
func (e *limitError) Error() string {
	return fmt.Sprintf("the %s is larger than %d bytes", e.what, e.limit)
}
