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
	"strconv"
	"strings"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry/address"
)

const (
	// maxAnswer bounds every answer: tokens have a few thousand bytes.
	maxAnswer = 64 << 10
	// maxHeader bounds the header of an answer.
	maxHeader = 64 << 10
	// maxPause bounds the pause that a cloud asks for, leastPause is the one after too many requests that names none.
	maxPause   = time.Hour
	leastPause = 10 * time.Second
)

// client asks for tokens. What it sends are credentials, so it follows no redirect.
type client struct {
	// public reaches the services of clouds, over HTTPS. local reaches the addresses that give a pod its identity, which are
	// of the machine and of no proxy.
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

// request is one for a token, or for a step on the way to it.
type request struct {
	method, url string
	header      map[string]string
	body        string
	// service is asked at an address that gives a pod its identity.
	service bool
	// sign signs the request with keys. Nil: it has no signature.
	sign func(asked *http.Request, body string) error
	// codes are those that an answer which is no success may name.
	codes []string
}

// ask gives the answer to a request.
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

// answer is what was said to a request; without a status nothing was.
type answer struct {
	status  int
	header  http.Header
	content []byte
}

// send sends a request once. An answer that is no success comes with an error.
func (c *client) send(asked *http.Request, service bool, codes []string) (answer, error) {
	through := c.public
	switch {
	case service && asked.URL.Scheme == "http":
		through = c.local
	case service || asked.URL.Scheme != "https" || address.CheckWritten(asked.URL) != nil:
		return answer{}, &askError{asked.URL.Host, service, errAddress}
	}
	response, err := through.RoundTrip(asked)
	if err != nil {
		return answer{}, &askError{asked.URL.Host, service, networkCause(err)}
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if ended := asked.Context().Err(); ended != nil { // what was read until then may look whole
		err = ended
	}
	said := answer{response.StatusCode, response.Header, content}
	switch {
	case response.StatusCode != http.StatusOK && !errors.Is(err, context.DeadlineExceeded):
		return said, &askError{asked.URL.Host, service, refusal(said, codes)}
	case err != nil:
		return answer{}, &askError{asked.URL.Host, service, networkCause(err)}
	case len(content) > maxAnswer:
		return answer{}, &askError{asked.URL.Host, service, errLarge}
	}
	return said, nil
}

// askError is a failure with who was asked.
type askError struct {
	host string
	// service tells that it is one that gives pods their identity.
	service bool
	cause   error
}

// Error is the cause.
func (e *askError) Error() string { return fmt.Sprintf("ask %q: %v", e.host, e.cause) }

// Unwrap returns the cause.
func (e *askError) Unwrap() error { return e.cause }

// refusal is the error for an answer that is no success.
func refusal(said answer, codes []string) error {
	failure := &statusError{status: said.status, pause: retryAfter(said.header.Get("Retry-After"))}
	if failure.pause == 0 && failure.status == http.StatusTooManyRequests {
		failure.pause = leastPause
	}
	for _, code := range codes {
		if bytes.Contains(said.content, []byte(code)) {
			failure.code = code
			break
		}
	}
	return failure
}

// retryAfter is the pause of a header in seconds, or to a date. Zero: it names none.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(maxPause/time.Second))) * time.Second
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(min(time.Until(date), maxPause), 0)
}

// askJSON decodes the answer to a request.
func (c *client) askJSON(ctx context.Context, of request, into any) error {
	content, err := c.ask(ctx, of)
	if err != nil {
		return err
	}
	if json.Unmarshal(content, into) != nil { // its words hold what was sent
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
