package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/failure"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// Failure explains why there are no credentials.
type Failure struct {
	cloud imagename.Cloud
	cause error
	// remedy is the action, in the imperative, that fixes the failure. Empty means that the error names no remedy.
	remedy string
	// refused reports whether a retry cannot succeed until a user changes something.
	refused bool
	pause   time.Duration
}

// Error returns the cause and the remedy. It contains no text that a remote host wrote.
func (f *Failure) Error() string {
	text := fmt.Sprintf("get a token for the operator's identity at %s: %v", f.cloud, f.cause)
	if f.remedy != "" {
		text += "; " + f.remedy
	}
	return text
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.cause }

// Transient reports whether a retry can succeed.
func (f *Failure) Transient() bool { return !f.refused }

// Pause returns the pause that a cloud requests. Zero means that the cloud requests no pause.
func (f *Failure) Pause() time.Duration { return f.pause }

// These are the causes of failures.
var (
	errNoIdentity  = errors.New("the operator's pod has no identity in this cloud")
	errEnvironment = errors.New("the environment variables of the operator's pod do not specify a valid identity")
	errAddress     = errors.New("the address of the token service is invalid, local or reserved, or does not use HTTPS; " +
		"check the environment variables of the operator's pod")
	errLarge    = fmt.Errorf("the response is larger than %d bytes", maxAnswer)
	errNonsense = errors.New("the response does not contain a token")
	errExpired  = errors.New("the token has already expired; check the clock of the operator's node")
)

// statusError is the error for a failed response.
type statusError struct {
	status int
	// code is a documented error code of the cloud, or empty.
	code  string
	pause time.Duration
}

// Error returns the status and the code.
func (e *statusError) Error() string {
	text := fmt.Sprintf("status %d", e.status)
	if word := http.StatusText(e.status); word != "" {
		text += " " + word
	}
	if e.code != "" {
		text += " and code " + e.code
	}
	return text
}

// passes reports whether the same request can succeed later.
func (e *statusError) passes() bool {
	return e.status >= http.StatusInternalServerError || e.status == http.StatusTooManyRequests ||
		e.status == http.StatusRequestTimeout ||
		e.code == codeThrottling
}

// pauseOf returns the pause that a cloud requests in a failed response. Zero means that the cloud requests no pause.
func pauseOf(err error) time.Duration {
	if failed, ok := errors.AsType[*Failure](err); ok {
		return failed.pause
	}
	return 0
}

// fail returns a Failure for a cause. The Failure includes the remedy if a user has to fix the cause, or if the request
// to an identity service failed.
func fail(cloud imagename.Cloud, cause error, remedy string) *Failure {
	failed := &Failure{cloud: cloud, cause: cause}
	var answer *statusError
	asked, _ := errors.AsType[*askError](cause)
	switch {
	case errors.As(cause, &answer):
		failed.refused, failed.pause = !answer.passes(), answer.pause
	case errors.Is(cause, errNoIdentity), errors.Is(cause, errEnvironment), errors.Is(cause, errAddress),
		errors.Is(cause, fs.ErrNotExist), errors.Is(cause, fs.ErrPermission):
		failed.refused = true
	}
	if failed.refused || asked != nil && asked.service {
		failed.remedy = remedy
	}
	return failed
}

// networkCause returns the reason why there is no response.
func networkCause(err error) error {
	for _, own := range []error{errLarge, errAddress, address.ErrNoIdentityService, context.Canceled} {
		if errors.Is(err, own) {
			return own
		}
	}
	if errors.Is(err, address.ErrLocal) {
		return errAddress
	}
	return cmp.Or(failure.Of(err), errNonsense)
}
