package cli

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/server"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// maxFile bounds, in bytes, a file with a token or with certificates.
const maxFile = 1 << 20

// serverFlags are the flags of commands that ask a server.
type serverFlags struct {
	token, tokenFile, caFile string
}

func (f *serverFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(
		&f.token, "token", "",
		"bearer token for a server with authentication; other users of this machine may see it, so prefer --token-file",
	)
	flags.StringVar(&f.tokenFile, "token-file", "", "file with that token")
	flags.StringVar(
		&f.caFile, "ca-file", "",
		"file with the certificate authorities of an HTTPS server; unset: those in the server's ConfigMap or Secret",
	)
	command.MarkFlagsMutuallyExclusive("token", "token-file")
}

// readToken returns the token, which no message may contain.
func (f *serverFlags) readToken(stdin io.Reader) (string, error) {
	if f.tokenFile == "" {
		return strings.TrimSpace(f.token), nil
	}
	data, err := readSmall(f.tokenFile, stdin)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("--token-file %q: the file is empty", f.tokenFile)
	}
	return token, nil
}

// readSmall reads a file, or standard input for "-".
func readSmall(path string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%q has more than %d bytes", path, maxFile)
	}
	return data, nil
}

// server forwards a port to the stack, and returns a client for it with the function that ends both.
func (t *target) server(
	ctx context.Context, stdin io.Reader, p printer, flags *serverFlags, timeout time.Duration,
) (*server.Client, func(), error) {
	token, err := flags.readToken(stdin)
	if err != nil {
		return nil, nil, err
	}
	authorities, err := t.authorities(ctx, stdin, p, flags.caFile)
	if err != nil {
		return nil, nil, err
	}
	session, err := t.connect(ctx)
	if err != nil {
		return nil, nil, rejected(err)
	}
	c, err := server.New(
		server.Options{URL: t.url(session.Port), Token: token, Authorities: authorities, Timeout: timeout},
	)
	if err != nil {
		session.Close()
		return nil, nil, err
	}
	return c, func() { c.Close(); session.Close() }, nil
}

// authorities returns the certificates by which the server's is verified: those of the file, else those that the
// operator found, else those of the server's Secret. Nil means that none is known.
func (t *target) authorities(
	ctx context.Context, stdin io.Reader, p printer, file string,
) ([]*x509.Certificate, error) {
	secretName := render.TLSSecret(&t.stack.Spec)
	if file != "" {
		data, err := readSmall(file, stdin)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		found := certificatesIn(data)
		if len(found) == 0 {
			return nil, fmt.Errorf("--ca-file %q: the file has no certificate in PEM form", file)
		}
		return found, nil
	}
	if secretName == "" {
		return nil, nil
	}
	configMap, secret := &corev1.ConfigMap{}, &corev1.Secret{}
	err := t.cluster.Get(
		ctx, client.ObjectKey{Namespace: t.stack.Namespace, Name: names.ServerCA(t.stack.Name)}, configMap,
	)
	if found := certificatesIn([]byte(configMap.Data[names.TLSAuthority])); err == nil && len(found) > 0 {
		return found, nil
	}
	err = t.cluster.Get(ctx, client.ObjectKey{Namespace: t.stack.Namespace, Name: secretName}, secret)
	found := append(certificatesIn(secret.Data[names.TLSAuthority]), certificatesIn(secret.Data[corev1.TLSCertKey])...)
	if len(found) > 0 {
		return found, nil
	}
	if err == nil {
		err = errors.New("it has no certificate")
	}
	p.warning(
		fmt.Sprintf(
			"the certificate of the server is not verified, because Secret %q cannot be read (%v); use --ca-file FILE",
			secretName, err,
		),
	)
	return nil, nil
}

// certificatesIn returns the certificates in a text, and skips what is not one.
func certificatesIn(data []byte) []*x509.Certificate {
	var found []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			found = append(found, certificate)
		}
	}
	return found
}
