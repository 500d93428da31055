package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/failure"
)

const (
	// maxAnswer is the maximum size of a response body in bytes. A token is a few thousand bytes long.
	maxAnswer = 64 << 10
	// maxHeader is the maximum size of a response header in bytes.
	maxHeader = 64 << 10
)

// client requests tokens. It does not follow redirects, because its requests contain credentials.
type client struct {
	// public sends requests to cloud services over HTTPS. The transport local sends requests to the addresses that give a
	// pod its identity. These addresses belong to the machine, so this transport uses no proxy.
	public, local http.RoundTripper
}

func newClient() *client {
	public := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		MaxResponseHeaderBytes: maxHeader,
		DialContext:            (&net.Dialer{Timeout: 3 * time.Second, ControlContext: address.CheckDialed}).DialContext,
		TLSHandshakeTimeout:    3 * time.Second,
		ResponseHeaderTimeout:  5 * time.Second,
		IdleConnTimeout:        10 * time.Second,
		MaxIdleConns:           2,
		ForceAttemptHTTP2:      true,
	}
	local := &http.Transport{
		MaxResponseHeaderBytes: maxHeader,
		DialContext:            (&net.Dialer{Timeout: time.Second, ControlContext: address.CheckIdentityService}).DialContext,
		ResponseHeaderTimeout:  4 * time.Second,
		DisableKeepAlives:      true,
	}
	return &client{public: public, local: local}
}

// request is one of the requests that are necessary to get a token.
type request struct {
	method, url string
	header      map[string]string
	body        string
	// service reports whether the request goes to an address that gives a pod its identity.
	service bool
	// sign signs the request with keys. Nil means that the request has no signature.
	sign func(asked *http.Request, body string) error
	// codes lists the error codes that an error may quote from a failed response.
	codes []string
}

// ask returns the body of the response to a request.
func (c *client) ask(ctx context.Context, of request) ([]byte, error) {
	asked, err := http.NewRequestWithContext(ctx, of.method, of.url, strings.NewReader(of.body))
	if err != nil {
		return nil, errAddress
	}
	for key, value := range of.header {
		asked.Header.Set(key, value)
	}
	if of.sign != nil {
		if err := of.sign(asked, of.body); err != nil {
			return nil, errNonsense
		}
	}
	said, err := c.send(asked, of.service, of.codes)
	return said.content, err
}

// answer is the response to a request. A zero status means that there was no usable response.
type answer struct {
	status  int
	header  http.Header
	content []byte
}

// send sends a request once. It returns a failed response together with an error.
func (c *client) send(asked *http.Request, service bool, codes []string) (answer, error) {
	said, err := c.exchange(asked, service, codes)
	if err != nil {
		err = &askError{asked.URL.Host, service, err}
	}
	return said, err
}

func (c *client) exchange(asked *http.Request, service bool, codes []string) (answer, error) {
	response, err := c.roundTrip(asked, service)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if ended := asked.Context().Err(); ended != nil { // a truncated body can look complete
		err = ended
	}
	said := answer{response.StatusCode, response.Header, content}
	switch {
	case response.StatusCode != http.StatusOK && !errors.Is(err, context.DeadlineExceeded):
		return said, refusal(said, codes)
	case err != nil:
		return answer{}, networkCause(err)
	case len(content) > maxAnswer:
		return answer{}, errLarge
	}
	return said, nil
}

// roundTrip sends a request to an identity service over HTTP. It sends any other request over HTTPS, and only to
// addresses that a registry may have.
func (c *client) roundTrip(asked *http.Request, service bool) (*http.Response, error) {
	through := c.public
	switch {
	case service && asked.URL.Scheme == "http":
		through = c.local
	case service || asked.URL.Scheme != "https" || address.CheckWritten(asked.URL) != nil:
		return nil, errAddress
	}
	response, err := through.RoundTrip(asked)
	if err != nil {
		return nil, networkCause(err)
	}
	return response, nil
}

// askError is the error for a failed request to a host.
type askError struct {
	host string
	// service reports whether the host is a service that gives pods their identity.
	service bool
	cause   error
}

// Error returns the host and the cause.
func (e *askError) Error() string { return fmt.Sprintf("contact %q: %v", e.host, e.cause) }

// Unwrap returns the cause.
func (e *askError) Unwrap() error { return e.cause }

// refusal returns the error for a failed response.
func refusal(said answer, codes []string) error {
	failed := &statusError{status: said.status, pause: failure.Pause(said.status, said.header)}
	for _, code := range codes {
		if bytes.Contains(said.content, []byte(code)) {
			failed.code = code
			break
		}
	}
	return failed
}

// askJSON decodes the response to a request.
func (c *client) askJSON(ctx context.Context, of request, into any) error {
	content, err := c.ask(ctx, of)
	if err != nil {
		return err
	}
	if json.Unmarshal(content, into) != nil { // the error would contain the response
		return errNonsense
	}
	return nil
}

func (c *client) close() {
	for _, inner := range []http.RoundTripper{c.public, c.local} {
		if inner, ok := inner.(*http.Transport); ok {
			inner.CloseIdleConnections()
		}
	}
}
