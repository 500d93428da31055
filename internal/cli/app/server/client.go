package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	modelsPath = "/v1/models"
	// maxAnswer is the maximum size in bytes of a response.
	maxAnswer = 4 << 20
	// maxHeader is the maximum size in bytes of a response header.
	maxHeader = 16 << 10
	// defaultTimeout is the default of Options.Timeout.
	defaultTimeout = 30 * time.Second
)

// Options contains the address of a server, and the settings of the connection.
type Options struct {
	// URL is the address of the server, without a path.
	URL string
	// Token is the bearer token. Empty means no token.
	Token string
	// Authorities holds the authorities with which the client verifies the server's certificate. The client does not
	// verify the name in the certificate, because a forwarded port has a different host name. Nil means that the client
	// does not verify the certificate.
	Authorities []*x509.Certificate
	// Timeout is the time limit for a request without a streamed response. Zero means 30 seconds.
	Timeout time.Duration
}

// Client sends requests to one server.
type Client struct {
	base    *url.URL
	token   string
	timeout time.Duration
	http    *http.Client
}

// New returns a client. It does not send a request.
func New(options Options) (*Client, error) {
	base, err := url.Parse(options.URL)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of a server; use http://HOST:PORT", options.URL)
	}
	if strings.ContainsAny(options.Token, "\r\n") {
		return nil, errors.New("the token has several lines; use a single-line token")
	}
	timeout := options.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	return &Client{base: base, token: options.Token, timeout: timeout, http: &http.Client{
		Transport: &http.Transport{
			MaxResponseHeaderBytes: maxHeader,
			TLSClientConfig: &tls.Config{
				InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies the certificate, but not its name
				VerifyConnection:   verify(options.Authorities),
				MinVersion:         tls.VersionTLS12,
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// verify returns a function that verifies a server's certificate.
func verify(authorities []*x509.Certificate) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if authorities == nil {
			return nil
		}
		served := state.PeerCertificates
		roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
		for _, authority := range authorities {
			if authority.Equal(served[0]) {
				return nil
			}
			roots.AddCert(authority)
		}
		for _, certificate := range served[1:] {
			intermediates.AddCert(certificate)
		}
		if _, err := served[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates}); err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: served, Err: err}
		}
		return nil
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Models returns the models of the server, sorted by ID.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	body, err := c.get(ctx, modelsPath)
	if err != nil {
		return nil, err
	}
	return parseModels(body)
}

// get returns the body of the response to a GET request.
func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, &UnansweredError{Path: path, Err: err}
	}
	if response.StatusCode != http.StatusOK {
		return nil, refusal(path, response.StatusCode, body, c.token)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the response to a request for %s has more than %d bytes", path, maxAnswer)
	}
	return body, nil
}

// do sends a request.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), body)
	if err != nil {
		return nil, fmt.Errorf("create a request for %s: %w", path, err)
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, &UnansweredError{Path: path, Err: err}
	}
	return response, nil
}
