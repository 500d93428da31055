package registry

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// placeError is the reason why an image was not read from one of its repositories, for example from a mirror.
type placeError struct {
	place string
	err   error
}

// mirrorsError is the error for an image that was not read from any of its repositories. It holds the reason for each
// repository that was tried, in order.
type mirrorsError []placeError

// orOnly returns the errors of all repositories that were tried. If only one repository was tried, orOnly returns its
// error without the name of the repository.
func (e mirrorsError) orOnly() error {
	if len(e) == 1 {
		return e[0].err
	}
	return e
}

// Error returns the cause for each repository.
func (e mirrorsError) Error() string {
	texts := make([]string, len(e))
	for i := range e {
		texts[i] = imagename.Familiar(e[i].place) + ": " + e[i].err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the cause that decides whether and when the image is read again. A fault in the content of the last
// repository takes precedence over a transient failure. If there is neither, the cause is the failure of the first
// repository.
func (e mirrorsError) Unwrap() error {
	last := e[len(e)-1].err
	if ofContent(last) {
		return last
	}
	for i := range e {
		if Transient(e[i].err) {
			return e[i].err
		}
	}
	return e[0].err
}
