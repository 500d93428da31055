package registry

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
)

// placeError is why an image was not read in one place.
type placeError struct {
	place string
	err   error
}

// mirrorsError is why an image was read in none of its places, in their order.
type mirrorsError []placeError

// orOnly is the error of the only place, as if there were no mirrors.
func (e mirrorsError) orOnly() error {
	if len(e) == 1 {
		return e[0].err
	}
	return e
}

// Error has the cause at each place.
func (e mirrorsError) Error() string {
	texts := make([]string, len(e))
	for i := range e {
		texts[i] = imagename.Familiar(e[i].place) + ": " + e[i].err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the cause that decides whether, and when, the image is read again: what may pass by itself, else that of the
// first place.
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
