package registry

import "fmt"

// Image is the content of an image that the operator uses.
type Image struct {
	// Digest is the digest (sha256:…) that the image's name refers to. If the name refers to an index, it is the digest of
	// the index. A pod with this digest runs the image that was read.
	Digest string
	// Config is the configuration in the image. Nil means that no label of the image leads to a configuration.
	Config []byte
	// ConfigLabel is the label that led to Config. ConfigFile is the path of the file in a layer that holds Config. An
	// empty ConfigFile means that the label holds it.
	ConfigLabel, ConfigFile string
	// ConfigVersion is the schema version of Config according to a label. Empty means that no label specifies a version,
	// and that the version in the configuration applies.
	ConfigVersion string
	// Release is the release of the server in the image, such as 0.7.3, according to the image's labels. Empty means that
	// no label specifies a release.
	Release string
	// ReleaseLabel is the label that Release comes from.
	ReleaseLabel string
	// Provider is the value of LabelProvider, with the metadata of an external provider. Empty means that the image has
	// no such label, or was read as a server image.
	Provider string
	// Entrypoint is the program that the image starts, with its arguments. Nil means that the image has no entrypoint,
	// that the entrypoint is too long, or that it also needs the arguments of CMD, which a command in a pod would drop.
	Entrypoint []string
}

// RefusedError is the error for an image that is not read because the administrator does not allow its registry, or
// because a mirror set forbids access to it.
type RefusedError struct {
	Repository string
	// Mirrored reports whether a mirror set in the cluster forbids the read.
	Mirrored bool
}

// Error names the repository and the setting that forbids the read.
func (e *RefusedError) Error() string {
	if e.Mirrored {
		return fmt.Sprintf("an ImageDigestMirrorSet or ImageTagMirrorSet forbids access to repository %q (mirrorSourcePolicy NeverContactSource) and has no mirror for it; ask an administrator to add a mirror for this repository", e.Repository)
	}
	return fmt.Sprintf("repository %q is not in registries.allow in the operator's configuration; ask an administrator to add the repository", e.Repository)
}

// LabelError is the error for a label that cannot be used, or whose content cannot be used. Every read returns this
// error until the image changes.
type LabelError struct {
	Label string
	Err   error
}

// Error returns the label and the cause.
func (e *LabelError) Error() string { return fmt.Sprintf("label %q: %v", e.Label, e.Err) }

// Unwrap returns the cause.
func (e *LabelError) Unwrap() error { return e.Err }

// limitError is the error for content that exceeds a limit.
type limitError struct {
	what  string
	limit int64
}

func tooLarge(what string, limit int64) error { return &limitError{what: what, limit: limit} }

// Error names the limit.
func (e *limitError) Error() string {
	return fmt.Sprintf("the %s is larger than %d bytes", e.what, e.limit)
}
