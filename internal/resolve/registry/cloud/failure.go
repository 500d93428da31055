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

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry/address"
)

// Failure is why there are no credentials.
type Failure struct {
	cloud imagename.Cloud
	cause error
	// remedy is what a person can do about it.
	remedy string
	// refused tells that it does not pass by itself.
	refused bool
	pause   time.Duration
}

// Error is the cause and the remedy, without a word of what a remote host wrote.
func (f *Failure) Error() string {
	text := fmt.Sprintf("get a token for the operator's identity at %s: %v", f.cloud, f.cause)
	if f.remedy != "" {
		text += "; " + f.remedy
	}
	return text
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.cause }

// Transient reports whether it may pass by itself.
func (f *Failure) Transient() bool { return !f.refused }

// Pause is the one that a cloud asks for; zero: none.
func (f *Failure) Pause() time.Duration { return f.pause }

// Causes of failures.
var (
	errNoIdentity  = errors.New("the operator's pod has no identity there")
	errEnvironment = errors.New("the variables of the operator's pod do not say what its identity is")
	errAddress     = errors.New("the operator's environment names an address that no token is got from")
	errLarge       = fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	errNonsense    = errors.New("the answer is not one that has a token")
	errExpired     = errors.New("the token has expired already; the clocks may differ")
	errNoAnswer    = errors.New("no answer in time")
)

// statusError is an answer that is not a success.
type statusError struct {
	status int
	// code is one that the cloud is known to give, or empty.
	code  string
	pause time.Duration
}

// Error is the status.
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

// passes reports whether the same request may succeed a while later.
func (e *statusError) passes() bool {
	return e.status >= http.StatusInternalServerError || e.status == http.StatusTooManyRequests || e.status == http.StatusRequestTimeout ||
		e.code == codeThrottling
}

// pauseOf is the pause that a cloud asks for with a failure; zero: none.
func pauseOf(err error) time.Duration {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure.pause
	}
	return 0
}

// fail makes a failure of a cause. The remedy belongs to what a person has to mend, and to a pod that gets no identity.
func fail(cloud imagename.Cloud, cause error, remedy string) *Failure {
	failure := &Failure{cloud: cloud, cause: cause}
	var answer *statusError
	asked, _ := errors.AsType[*askError](cause)
	switch {
	case errors.As(cause, &answer):
		failure.refused, failure.pause = !answer.passes(), answer.pause
	case errors.Is(cause, errNoIdentity), errors.Is(cause, errEnvironment), errors.Is(cause, errAddress), errors.Is(cause, fs.ErrNotExist), errors.Is(cause, fs.ErrPermission):
		failure.refused = true
	}
	if failure.refused || asked != nil && asked.service {
		failure.remedy = remedy
	}
	return failure
}

// networkCause says why there is no answer.
func networkCause(err error) error {
	var timeout net.Error
	var lookup *net.DNSError
	var number syscall.Errno
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var host x509.HostnameError
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
		return errors.New("the host name cannot be looked up")
	case errors.As(err, &number):
		return errors.New(number.Error())
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the connection ends before the answer does")
	case errors.As(err, &authority):
		return errors.New("the certificate is signed by an unknown authority")
	case errors.As(err, &host):
		return errors.New("the certificate is one of another host")
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return errors.New("it does not speak HTTPS")
	default:
		return errNonsense
	}
}
