package failure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// These are some of the causes that Of returns.
var (
	ErrNoAnswer  = errors.New("the host did not respond in time")
	ErrAuthority = errors.New("the certificate is signed by an unknown authority")
	ErrNotHTTPS  = errors.New("the host does not use HTTPS")
)

// Of returns the reason why there is no response, or nil if it is not known.
func Of(err error) error {
	var timeout net.Error
	var lookup *net.DNSError
	var number syscall.Errno
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return ErrNoAnswer
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return errors.New("no such host")
	case errors.As(err, &lookup):
		return errors.New("the host name cannot be resolved")
	case errors.As(err, &number):
		return errors.New(number.Error())
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the connection closed before the response was complete")
	}
	return ofTLS(err)
}

// ofTLS returns the reason why there is no TLS connection, or nil if it is not known.
func ofTLS(err error) error {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return ErrNotHTTPS
	case errors.As(err, &unknown):
		return ErrAuthority
	case errors.As(err, &host):
		return errors.New("the certificate is for a different host")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.New("the certificate has expired or is not valid yet")
	case errors.As(err, &invalid):
		return errors.New("the certificate is not valid")
	default:
		return nil
	}
}

const (
	// maxPause bounds the pause that a host requests.
	maxPause = time.Hour
	// leastPause is the pause after a "too many requests" response that does not specify a pause.
	leastPause = 10 * time.Second
)

// Pause returns the pause that a failed response requests in its Retry-After header, in seconds or as a date. Zero
// means that it requests no pause.
func Pause(status int, header http.Header) time.Duration {
	var pause time.Duration
	after := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(after, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		pause = time.Duration(min(seconds, uint64(maxPause/time.Second))) * time.Second
	} else if date, err := http.ParseTime(after); err == nil {
		pause = max(min(time.Until(date), maxPause), 0)
	}
	if pause == 0 && status == http.StatusTooManyRequests {
		return leastPause
	}
	return pause
}
