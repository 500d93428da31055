package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/failure"
)

// These are the failures of a read. They contain no text that a remote host wrote, because a registry can redirect to
// any other host, and the user who named the registry must not see the response of that host.
var (
	errWrongContent = errors.New("the registry returns content that does not match the requested digest")
	errTooMany      = fmt.Errorf("the image has more than %d manifests, layers or labels", maxListed)
	errNoPlatform   = errors.New("the image has no manifest for")
	errNoManifest   = errors.New("the registry returns content that is not an image manifest or an image configuration")
	errNoImage      = errors.New("the digest does not refer to an image manifest or an image configuration; check the digest in the image reference, or build and push the image again")
	errSchema1      = errors.New("the image has a schema 1 manifest, which is not supported; push the image again with a newer tool")
	errRealm        = errors.New("the registry requires a token, but does not name a server that issues tokens")
	errRedirects    = fmt.Errorf("the registry redirects more than %d times", maxRedirects)
	errNonsense     = errors.New("the response is not from a registry")
	errNotHTTPS     = errors.New("the registry does not use HTTPS; ask an administrator to list the registry under registries.insecure")
)

// answerError is the error for a failed response.
type answerError struct {
	status int
	// code is one of apiCodes, or empty.
	code string
}

// Error returns the status and an error code from the registry API.
func (e *answerError) Error() string {
	text := fmt.Sprintf("the registry responds with status %d", e.status)
	if word := http.StatusText(e.status); word != "" {
		text += " " + word
	}
	if e.code != "" {
		text += " and code " + e.code
	}
	return text
}

// apiCodes lists the error codes of the registry API: the codes in the OCI distribution specification, "Error Codes",
// and the codes that implementations add.
var apiCodes = []string{
	"BLOB_UNKNOWN", "BLOB_UPLOAD_INVALID", "BLOB_UPLOAD_UNKNOWN", "DENIED", "DIGEST_INVALID", "MANIFEST_BLOB_UNKNOWN",
	"MANIFEST_INVALID", "MANIFEST_UNKNOWN", "MANIFEST_UNVERIFIED", "NAME_INVALID", "NAME_UNKNOWN", "SIZE_INVALID",
	"TAG_INVALID", "TOOMANYREQUESTS", "UNAUTHORIZED", "UNAVAILABLE", "UNKNOWN", "UNSUPPORTED",
}

// maxErrorBody is the maximum number of bytes that are read from the body of a failed response.
const maxErrorBody = 64 << 10

// refusal returns the error for a failed response.
func refusal(response *http.Response) error {
	var body transport.Error
	content, err := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	if err == nil && json.Unmarshal(content, &body) != nil {
		body.Errors = nil
	}
	return newAnswerError(response.StatusCode, body.Errors)
}

func newAnswerError(status int, said []transport.Diagnostic) error {
	answer := &answerError{status: status}
	for _, diagnostic := range said {
		if slices.Contains(apiCodes, string(diagnostic.Code)) {
			answer.code = string(diagnostic.Code)
			break
		}
	}
	return answer
}

// Sanitize returns the error of a library that wrote to a registry, without the text that a remote host sent.
func Sanitize(err error) error { return sanitize(err) }

// sanitize replaces a library's error. Such an error may contain text that a remote host wrote: the body or the first
// line of a response, a token, or an address with a signature.
func sanitize(err error) error {
	if err == nil {
		return nil
	}
	if own := ownError(err); own != nil {
		return own
	}
	cause := networkCause(err)
	if errors.Is(err, errPlainHTTP) && (errors.Is(cause, errNonsense) || errors.Is(cause, errNotHTTPS)) {
		cause = errPlainHTTP // the request over HTTPS failed only because the registry does not use HTTPS
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		if asked, err := url.Parse(request.URL); err == nil && len(asked.Host) <= maxHost {
			return fmt.Errorf("contact %q: %w", asked.Host, cause)
		}
	}
	return cause
}

// ownError returns the error of this package that a library's error wraps or corresponds to, or nil if there is no such
// error.
func ownError(err error) error {
	if answer, ok := errors.AsType[*transport.Error](err); ok {
		return newAnswerError(answer.StatusCode, answer.Errors)
	}
	if limit, ok := errors.AsType[*limitError](err); ok {
		return limit
	}
	for _, own := range []error{
		context.Canceled, address.ErrLocal, errScheme, errRedirects, errWrongContent,
		errNoManifest, errNoImage, errSchema1, errRealm,
	} {
		if errors.Is(err, own) {
			return own
		}
	}
	return nil
}

// NeedsInsecure reports whether the cause of an error is that the registry is not listed as insecure.
func NeedsInsecure(err error) bool {
	return errors.Is(err, errPlainHTTP) || errors.Is(err, address.ErrLocal) || errors.Is(err, errNotHTTPS)
}

// NeedsLogin reports whether a registry refused a request because it requires credentials and none were sent, or
// because it requires other credentials.
func NeedsLogin(err error) bool {
	var answer *answerError
	return errors.As(err, &answer) && (answer.status == http.StatusUnauthorized || answer.status == http.StatusForbidden)
}

// UnknownAuthority reports whether no trusted authority signed the certificate of a registry.
func UnknownAuthority(err error) bool {
	return errors.Is(err, failure.ErrAuthority)
}

// maxHost is the maximum length of a DNS name with a port.
const maxHost = 253 + len(":65535")

// networkCause returns the reason why there is no response, or errNonsense if it is not known.
func networkCause(err error) error {
	var alert *net.OpError
	switch cause := failure.Of(err); {
	case errors.Is(cause, failure.ErrNotHTTPS):
		return errNotHTTPS
	case cause != nil:
		return cause
	case errors.As(err, &alert) && alert.Op == "remote error": // an alert, whose text comes from the library
		return fmt.Errorf("the registry refuses the connection: %s", alert.Err.Error())
	default:
		return errNonsense
	}
}
