package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// clientOptions are the options of get and post.
type clientOptions struct {
	timeout time.Duration
	token   string
	// authority is a certificate authority in PEM format. If it is empty, any certificate is accepted.
	authority string
}

// runGet sends a GET request and prints the status and the body of the response. It returns an error only if there is
// no response.
func runGet(ctx context.Context, w world, args []string) error {
	options, rest, err := parseOptions("get URL", w, args, 1)
	if err != nil {
		return err
	}
	return ask(ctx, w, options, http.MethodGet, rest[0], http.NoBody)
}

// runPost sends JSON and prints the response as runGet does.
func runPost(ctx context.Context, w world, args []string) error {
	options, rest, err := parseOptions("post URL BODY", w, args, 2)
	if err != nil {
		return err
	}
	return ask(ctx, w, options, http.MethodPost, rest[0], strings.NewReader(rest[1]))
}

func parseOptions(usage string, w world, args []string, count int) (clientOptions, []string, error) {
	var options clientOptions
	flags := flag.NewFlagSet(usage, flag.ContinueOnError)
	flags.SetOutput(w.stderr)
	flags.DurationVar(&options.timeout, "timeout", 5*time.Second, "time limit for the whole response")
	flags.StringVar(&options.token, "token", "", "bearer token")
	flags.StringVar(&options.authority, "authority", "", "certificate authorities in PEM format, one of which must have signed the server's certificate; if empty, the client accepts any certificate")
	if err := flags.Parse(args); err != nil {
		return options, nil, fmt.Errorf("standin %s: %w", usage, err)
	}
	if flags.NArg() != count {
		return options, nil, fmt.Errorf("standin %s: %d arguments", usage, flags.NArg())
	}
	return options, flags.Args(), nil
}

// trust returns the settings for verifying a server's certificate. By default, certificates are not verified, because
// the tests create their own certificates.
func (o clientOptions) trust() (*tls.Config, error) {
	if o.authority == "" {
		return &tls.Config{InsecureSkipVerify: true}, nil //nolint:gosec // see the comment of the function
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(o.authority)) {
		return nil, errors.New("-authority contains no certificate; set -authority to certificates in PEM format")
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func ask(ctx context.Context, w world, options clientOptions, method, url string, body io.Reader) error {
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return fmt.Errorf("create request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if options.token != "" {
		request.Header.Set("Authorization", "Bearer "+options.token)
	}
	trust, err := options.trust()
	if err != nil {
		return err
	}
	client := http.Client{Timeout: options.timeout, Transport: &http.Transport{TLSClientConfig: trust}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	fmt.Fprintf(w.stdout, "%d\n%s", response.StatusCode, content)
	return nil
}
