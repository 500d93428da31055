package probe

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Dial opens a connection, as net.Dialer's DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

const (
	// defaultTimeout of one request, to the last byte of the answer. A server that
	// takes in documents answers nothing for a while; it is asked again later.
	defaultTimeout = 10 * time.Second
	// maxHeader bounds what is read of an answer's header, in bytes.
	maxHeader = 16 << 10
)

// client asks strangers: no proxy, no redirect, no connection that stays open.
type client struct {
	dial    Dial
	timeout time.Duration
}

// to is a client for one server.
func (c client) to(target Target) *http.Client {
	return &http.Client{
		Timeout: c.timeout,
		Transport: &http.Transport{
			DialContext:            c.dial,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
			TLSClientConfig: &tls.Config{
				// Certificates are made for the names that users know a stack by, and not for that of
				// its Service. The one that the stack was given is told by itself. Where nobody knows
				// it any will do, as for the kubelet's probes: nothing secret is sent.
				InsecureSkipVerify: true, //nolint:gosec // see above
				VerifyConnection:   verifyCertificate(target.Certificate),
				NextProtos:         []string{"http/1.1"},
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// verifyCertificate checks that a server shows the certificate with this SHA-256; empty: any.
func verifyCertificate(certificate string) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if certificate == "" {
			return nil
		}
		sum := sha256.Sum256(state.PeerCertificates[0].Raw)
		if hex.EncodeToString(sum[:]) != certificate {
			return errors.New("the server does not show the certificate of its Secret")
		}
		return nil
	}
}

// finalError is an answer that will not be another one the next time.
type finalError struct{ reason string }

// Error is the reason.
func (e *finalError) Error() string { return e.reason }

// isFinal reports whether asking again is of no use.
func isFinal(err error) bool {
	_, ok := errors.AsType[*finalError](err)
	return ok
}

// get reads a path of a server, at most so many bytes.
func (c client) get(ctx context.Context, target Target, path string, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.url(path), http.NoBody)
	if err != nil {
		return nil, &finalError{err.Error()}
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.to(target).Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the server for %s: %w", path, err)
	}
	defer response.Body.Close()
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests || code >= http.StatusInternalServerError:
		return nil, fmt.Errorf("ask the server for %s: status %d", path, code)
	case code != http.StatusOK:
		return nil, &finalError{fmt.Sprintf("the server answers %s with status %d", path, code)}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", path, err)
	}
	if int64(len(body)) > most {
		return nil, &finalError{fmt.Sprintf("the answer to %s has more than %d bytes", path, most)}
	}
	return body, nil
}
