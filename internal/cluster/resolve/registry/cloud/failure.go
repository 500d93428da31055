package cloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
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
	errNoAnswer = errors.New("the host did not respond in time")
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
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure.pause
	}
	return 0
}

// fail returns a Failure for a cause. The Failure includes the remedy if a user has to fix the cause, or if the request
// to an identity service failed.
func fail(cloud imagename.Cloud, cause error, remedy string) *Failure {
	failure := &Failure{cloud: cloud, cause: cause}
	var answer *statusError
	asked, _ := errors.AsType[*askError](cause)
	switch {
	case errors.As(cause, &answer):
		failure.refused, failure.pause = !answer.passes(), answer.pause
	case errors.Is(cause, errNoIdentity), errors.Is(cause, errEnvironment), errors.Is(cause, errAddress),
		errors.Is(cause, fs.ErrNotExist), errors.Is(cause, fs.ErrPermission):
		failure.refused = true
	}
	if failure.refused || asked != nil && asked.service {
		failure.remedy = remedy
	}
	return failure
}

// networkCause returns the reason why there is no response.
func networkCause(err error) error {
	var timeout net.Error
	var lookup *net.DNSError
	var number syscall.Errno
	for _, own := range []error{errLarge, errAddress, address.ErrNoIdentityService, context.Canceled} {
		if errors.Is(err, own) {
			return own
		}
	}
	switch {
	case errors.Is(err, address.ErrLocal):
		return errAddress
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errNoAnswer
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return errors.New("no such host")
	case errors.As(err, &lookup):
		return errors.New("the host name cannot be resolved")
	case errors.As(err, &number):
		return errors.New(number.Error())
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the connection closed before the response was complete")
	}
	return tlsCause(err)
}

// tlsCause returns the reason why there is no TLS connection, or errNonsense for any other error.
func tlsCause(err error) error {
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var host x509.HostnameError
	switch {
	case errors.As(err, &authority):
		return errors.New("the certificate is signed by an unknown authority")
	case errors.As(err, &host):
		return errors.New("the certificate is for a different host")
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return errors.New("the host does not use HTTPS")
	default:
		return errNonsense
	}
}
