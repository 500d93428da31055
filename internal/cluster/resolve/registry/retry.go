package registry

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/failure"
)

// Transient reports whether the same read can succeed later without a change by a user. Examples are a registry that
// cannot be reached, has an internal error, or limits the rate of requests. A read that the registry refuses, or whose
// image the registry does not have, is not transient, because it succeeds only after a user changes something.
func Transient(err error) bool {
	if Lasting(err) {
		return false
	}
	if own, ok := errors.AsType[IdentityError](err); ok {
		return own.Transient()
	}
	if errors.Is(err, errForeignRealm) {
		return false
	}
	switch statusOf(err) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return false
	default:
		return true
	}
}

// Lasting reports whether every further read fails in the same way until the reference, the image that it refers to, or
// the options change.
func Lasting(err error) bool {
	if _, ok := errors.AsType[*RefusedError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*limitError](err); ok {
		return true
	}
	for _, lasting := range []error{errPlainHTTP, address.ErrLocal, errScheme} {
		if errors.Is(err, lasting) {
			return true
		}
	}
	return ofContent(err)
}

// ofContent reports whether an error is caused by the content itself, although the content matches its digest. Every
// read of that digest returns the same error.
func ofContent(err error) bool {
	if _, ok := errors.AsType[*LabelError](err); ok {
		return true
	}
	for _, lasting := range []error{errNoPlatform, errTooMany, errNoImage, errSchema1} {
		if errors.Is(err, lasting) {
			return true
		}
	}
	return false
}

// statusOf returns the status of the failed response that an error reports, or 0 if the error reports no response.
func statusOf(err error) int {
	if answer, ok := errors.AsType[*answerError](err); ok {
		return answer.status
	}
	return 0
}

// wanted records the pause that a registry requested.
type wanted struct{ pause atomic.Int64 }

type wantedKey struct{}

func withWanted(ctx context.Context) (context.Context, *wanted) {
	own := &wanted{}
	return context.WithValue(ctx, wantedKey{}, own), own
}

// noteWanted records the pause that a response requests.
func noteWanted(ctx context.Context, response *http.Response) {
	own, ok := ctx.Value(wantedKey{}).(*wanted)
	if ok && response.StatusCode >= http.StatusBadRequest {
		own.pause.Store(int64(failure.Pause(response.StatusCode, response.Header)))
	}
}

// with adds the pause to an error.
func (w *wanted) with(err error) error {
	if pause := time.Duration(w.pause.Load()); err != nil && pause > 0 {
		return &waitError{error: err, pause: pause}
	}
	return err
}

// waitError is a failure with the pause that the registry requests.
type waitError struct {
	error
	pause time.Duration
}

// Unwrap returns the failure.
func (e *waitError) Unwrap() error { return e.error }

// wantedPause returns the pause that an error requests.
func wantedPause(err error) time.Duration {
	if wait, ok := errors.AsType[*waitError](err); ok {
		return wait.pause
	}
	if own, ok := errors.AsType[IdentityError](err); ok {
		return own.Pause()
	}
	return 0
}
