package probe

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"time"
)

// Dial opens a connection, as net.Dialer's DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

const (
	// timeout of one request. A server that takes in documents answers nothing for
	// a while; it is asked again later.
	timeout = 10 * time.Second
	// maxBody and maxHeader bound what is read of an answer, in bytes.
	maxBody   = 4 << 10
	maxHeader = 16 << 10
)

// versionForm is what a version may look like: it is shown in status, so it must
// not be just anything that a server says.
var versionForm = regexp.MustCompile(`^[0-9][0-9A-Za-z.+_-]{0,62}$`)

// newClient makes a client for strangers: no proxy, no redirect, no connection
// that stays open.
func newClient(dial Dial) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext:            dial,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
			TLSClientConfig: &tls.Config{
				// As the kubelet does for probes: certificates are made for the names that
				// users know a stack by, nothing secret is sent, and the answer is shown only.
				InsecureSkipVerify: true, //nolint:gosec // see above
				NextProtos:         []string{"http/1.1"},
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// finalError is an answer that will not be another one the next time.
type finalError struct{ reason string }

func (e *finalError) Error() string { return e.reason }

// version asks a server for its version.
func version(ctx context.Context, client *http.Client, target Target) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.url(), http.NoBody)
	if err != nil {
		return "", &finalError{err.Error()}
	}
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask for the server's version: %w", err)
	}
	defer response.Body.Close()
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests || code >= http.StatusInternalServerError:
		return "", fmt.Errorf("ask for the server's version: status %d", code)
	case code != http.StatusOK:
		return "", &finalError{fmt.Sprintf("the server answers %s with status %d", versionPath, code)}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return "", fmt.Errorf("read the server's version: %w", err)
	}
	return parse(body)
}

// parse reads {"version": "0.7.1"}.
func parse(body []byte) (string, error) {
	var answer struct {
		Version string `json:"version"`
	}
	if len(body) > maxBody {
		return "", &finalError{fmt.Sprintf("the answer has more than %d bytes", maxBody)}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", &finalError{"the answer is not JSON"}
	}
	if !versionForm.MatchString(answer.Version) {
		return "", &finalError{"the answer has no version"}
	}
	return answer.Version, nil
}

// final says that asking again is of no use.
func final(err error) bool {
	_, ok := errors.AsType[*finalError](err)
	return ok
}
