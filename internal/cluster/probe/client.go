package probe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"time"

	"golang.org/x/time/rate"
)

// Dial opens a connection, as net.Dialer's DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

const (
	// defaultTimeout limits the duration of one request, up to the last byte of the response. A server that is
	// ingesting documents does not respond for a while. The prober repeats the request later.
	defaultTimeout = 10 * time.Second
	// maxHeader is the maximum size of the response header in bytes.
	maxHeader = 16 << 10
)

// Locate returns the address of the server of a target. It must not use names, because a tenant chooses what a name
// refers to.
type Locate func(ctx context.Context, target Target) (netip.Addr, error)

// ErrHostNetwork is the error of Locate for a server that has no address of its own. The prober makes no further
// attempt.
var ErrHostNetwork error = &finalError{"the server uses the network of its node"}

// client sends requests to untrusted servers. It uses no proxy, follows no redirect and keeps no connection open.
type client struct {
	locate  Locate
	refused []netip.Addr
	dial    Dial
	timeout time.Duration
	limiter *rate.Limiter
}

// to returns an HTTP client for one server at an address.
func (c client) to(target Target, address string) *http.Client {
	return &http.Client{
		Timeout: c.timeout,
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return c.dial(ctx, network, address)
			},
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
			TLSClientConfig: &tls.Config{
				// The client does not verify the name, because certificates contain the names by which users reach a stack, and not
				// the name of its Service. VerifyConnection compares the certificate with the configured one. If the configured
				// certificate is unknown, the client accepts any certificate, as the kubelet's probes do, because requests contain
				// no secrets.
				InsecureSkipVerify: true, //nolint:gosec // see above
				VerifyConnection:   verifyCertificate(target.Certificate),
				NextProtos:         []string{"http/1.1"},
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// address returns the address of the server. It finds the address for each request, because another pod may get the
// address of a pod that has ended. It does not run in the transport, which would not survive a panic.
func (c client) address(ctx context.Context, target Target) (string, error) {
	address, err := c.locate(ctx, target)
	if err != nil {
		return "", err
	}
	address = address.Unmap()
	if !address.IsGlobalUnicast() || slices.Contains(c.refused, address) {
		return "", &finalError{fmt.Sprintf("no server may have the address %s", address)}
	}
	return netip.AddrPortFrom(address, uint16(target.Port)).String(), nil //nolint:gosec // a valid port
}

// verifyCertificate returns a function that accepts only a connection to a server with the given certificate. The
// parameter certificate is the SHA-256, in hex, of this certificate. If the parameter is empty, the function accepts
// any certificate.
func verifyCertificate(certificate string) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if certificate == "" {
			return nil
		}
		sum := sha256.Sum256(state.PeerCertificates[0].Raw)
		if hex.EncodeToString(sum[:]) != certificate {
			return errors.New("the server does not present the certificate from the stack's Secret")
		}
		return nil
	}
}

// finalError is the error for a response that would be the same if the prober repeated the request.
type finalError struct{ reason string }

// Error returns the reason.
func (e *finalError) Error() string { return e.reason }

// isFinal reports whether the same request would fail again in the same way.
func isFinal(err error) bool {
	_, ok := errors.AsType[*finalError](err)
	return ok
}

// get returns the response to a request for a path on a server. It returns an error if the response has more bytes than
// the parameter most. It waits until the limiter allows the request.
func (c client) get(ctx context.Context, target Target, path string, most int64) ([]byte, error) {
	if err := c.limiter.Wait(ctx); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.url(path), http.NoBody)
	if err != nil {
		return nil, &finalError{err.Error()}
	}
	request.Header.Set("Accept", "application/json")
	address, err := c.address(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("find the server: %w", err)
	}
	response, err := c.to(target, address).Do(request)
	if err != nil {
		return nil, fmt.Errorf("request %s from the server: %w", path, err)
	}
	defer response.Body.Close()
	if err := checkStatus(path, response.StatusCode); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("read the response to %s: %w", path, err)
	}
	if int64(len(body)) > most {
		return nil, &finalError{fmt.Sprintf("the response to %s has more than %d bytes", path, most)}
	}
	return body, nil
}

// fetch returns what a server reports at a path, as the function parse reads it from the response.
func fetch[T any](
	ctx context.Context, c client, target Target, path string, most int64, parse func([]byte) (T, error),
) (T, error) {
	body, err := c.get(ctx, target, path, most)
	if err != nil {
		return *new(T), err
	}
	return parse(body)
}

// checkStatus returns the error for a status code other than 200. The error is not final if the server can recover.
func checkStatus(path string, code int) error {
	switch {
	case code == http.StatusOK:
		return nil
	case code == http.StatusTooManyRequests || code >= http.StatusInternalServerError:
		return fmt.Errorf("request %s from the server: status %d", path, code)
	default:
		return &finalError{fmt.Sprintf("the server responds to %s with status %d", path, code)}
	}
}

// maxEntries is the maximum number of entries in a response. An entry of two bytes needs a hundred bytes of memory.
const maxEntries = 10_000

// dataOf returns the list under "data" in a response. The error contains the parameter what, which describes the list,
// and no part of the response.
func dataOf[T any](body []byte, what string) ([]T, error) {
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	unexpected := &finalError{"the response with the " + what + " is not JSON, or has an unexpected structure"}
	if json.Unmarshal(body, &answer) != nil {
		return nil, unexpected
	}
	decoder := json.NewDecoder(bytes.NewReader(answer.Data))
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return nil, unexpected
	}
	var list []T
	for decoder.More() {
		var entry T
		switch err := decoder.Decode(&entry); {
		case err != nil:
			return nil, unexpected
		case len(list) == maxEntries:
			return nil, &finalError{fmt.Sprintf("the response with the %s has more than %d entries", what, maxEntries)}
		}
		list = append(list, entry)
	}
	return list, nil
}

// maxVersion is the maximum size of the response to versionPath in bytes.
const maxVersion = 4 << 10

// versionForm matches valid versions. The status shows the version, so it must not be arbitrary text from a server.
var versionForm = form{regexp.MustCompile(`^[0-9][0-9A-Za-z.+_-]*$`), 63}

// form is a pattern for text with a maximum length. With the length, the pattern would need a state for each character.
type form struct {
	pattern *regexp.Regexp
	most    int
}

func (f form) matches(text string) bool { return len(text) <= f.most && f.pattern.MatchString(text) }

// parseVersion parses {"version": "0.7.1"}.
func parseVersion(body []byte) (string, error) {
	var answer struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(body, &answer) != nil { // the error can quote the response
		return "", &finalError{"the response with the version is not JSON, or has an unexpected structure"}
	}
	if !versionForm.matches(answer.Version) {
		return "", &finalError{"the response has no valid version"}
	}
	return answer.Version, nil
}
