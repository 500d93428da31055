package registry

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
)

// maxBody is the maximum size, in bytes, of a response body. The largest responses are layers.
const maxBody = maxLayer + 1<<20

// maxHeader is the maximum size, in bytes, of a response header. Short lines need 25 times as much memory, and a
// response keeps the responses that redirected to it.
const maxHeader = 32 << 10

// maxRedirects bounds the number of redirects that one request follows.
const maxRedirects = 5

// roundTripper sends requests over HTTPS, and does not connect to special-purpose addresses, unless the registry is
// listed as insecure.
type roundTripper struct {
	options          Options
	secure, insecure http.RoundTripper
}

func newTransport(options Options) *roundTripper {
	secure := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // a digest covers the bytes as they are sent
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second, ControlContext: address.CheckDialed}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           8,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{RootCAs: options.RootCAs, MinVersion: tls.VersionTLS12},
	}
	insecure := secure.Clone()
	insecure.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	insecure.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // the administrator lists these registries
	insecure.ForceAttemptHTTP2 = false
	return &roundTripper{options: options, secure: secure, insecure: insecure}
}

// These are the errors of the transport's own checks.
var (
	errScheme    = errors.New("the registry returns an address that uses neither HTTPS nor HTTP")
	errPlainHTTP = errors.New("plain HTTP is not allowed for this registry; ask an administrator to list the registry under registries.insecure")
)

// redirects returns the number of redirects that led to a request, up to maxRedirects + 1.
func redirects(request *http.Request) int {
	count := 0
	for ; request.Response != nil && count <= maxRedirects; count++ {
		request = request.Response.Request
	}
	return count
}

// RoundTrip checks and sends one request. The HTTP client also calls it for the request after each redirect.
func (t *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	through := t.secure
	switch {
	case redirects(request) > maxRedirects:
		return nil, errRedirects
	case request.URL.Scheme != "https" && request.URL.Scheme != "http":
		return nil, errScheme
	case t.options.isInsecure(request.URL.Host):
		through = t.insecure
	case request.URL.Scheme == "http":
		return nil, errPlainHTTP
	default:
		if err := address.CheckWritten(request.URL); err != nil {
			return nil, err
		}
	}
	response, err := through.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	noteWanted(request.Context(), response)
	response.Body = struct {
		io.Reader
		io.Closer
	}{
		&boundedReader{ctx: request.Context(), reader: response.Body, left: maxBody, exceeded: tooLarge("response", maxBody)},
		response.Body,
	}
	return response, nil
}

func (t *roundTripper) close() {
	for _, inner := range []http.RoundTripper{t.secure, t.insecure} {
		if inner, ok := inner.(*http.Transport); ok {
			inner.CloseIdleConnections()
		}
	}
}
