package target

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/server"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// ServerFlags are the flags of commands that connect to a server.
type ServerFlags struct {
	TokenFile, CAFile string
}

// AddServer adds the flags.
func (f *ServerFlags) AddServer(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.TokenFile, "token-file", "",
		"file with the bearer token for a stack with authentication, or - for standard input")
	flags.StringVar(
		&f.CAFile, "ca-file", "",
		"file with the certificate authorities for an HTTPS server (default: the authorities in the server's ConfigMap or Secret)",
	)
}

// readToken returns the bearer token, or "". Messages must not contain the token.
func (f *ServerFlags) readToken(stdin io.Reader) (string, error) {
	if f.TokenFile == "" {
		return "", nil
	}
	data, err := files.Small(f.TokenFile, stdin)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("--token-file %q: the file is empty; write the token to the file", f.TokenFile)
	}
	return token, nil
}

// Server forwards a port to a pod of the stack. It returns a client for the port, and a function that closes the client
// and the forwarded port.
func (t *Target) Server(
	ctx context.Context, stdin io.Reader, p app.Printer, flags *ServerFlags, timeout time.Duration,
) (*server.Client, func(), error) {
	token, err := flags.readToken(stdin)
	if err != nil {
		return nil, nil, err
	}
	authorities, err := t.authorities(ctx, stdin, p, flags.CAFile)
	if err != nil {
		return nil, nil, err
	}
	session, err := t.connect(ctx)
	if err != nil {
		return nil, nil, app.Rejected(err)
	}
	c, err := server.New(
		server.Options{URL: t.URL(session.Port), Token: token, Authorities: authorities, Timeout: timeout},
	)
	if err != nil {
		session.Close()
		return nil, nil, err
	}
	return c, func() { c.Close(); session.Close() }, nil
}

// authorities returns the certificates with which the server's certificate is verified: those in the file, otherwise
// those that the operator found, otherwise those in the server's Secret. Nil means that the server does not use TLS, or
// that no certificate is known.
func (t *Target) authorities(
	ctx context.Context, stdin io.Reader, p app.Printer, file string,
) ([]*x509.Certificate, error) {
	if file != "" {
		return authoritiesIn(file, stdin)
	}
	secretName := render.TLSSecret(&t.Stack.Spec)
	if secretName == "" {
		return nil, nil
	}
	if found := t.foundAuthorities(ctx); len(found) > 0 {
		return found, nil
	}
	secret := &corev1.Secret{}
	err := t.Cluster.Get(ctx, client.ObjectKey{Namespace: t.Stack.Namespace, Name: secretName}, secret)
	found := append(certificatesIn(secret.Data[names.TLSAuthority]), certificatesIn(secret.Data[corev1.TLSCertKey])...)
	if len(found) > 0 {
		return found, nil
	}
	if err == nil {
		err = errors.New("the Secret contains no certificate")
	}
	p.Warning(fmt.Sprintf("the command does not verify the server's certificate, because Secret %q cannot be "+
		"used (%v); set --ca-file FILE", secretName, err))
	return nil, nil
}

// foundAuthorities returns the certificate authorities that the operator found, or nil if they cannot be read.
func (t *Target) foundAuthorities(ctx context.Context) []*x509.Certificate {
	configMap := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: t.Stack.Namespace, Name: names.ServerCA(t.Stack.Name)}
	if err := t.Cluster.Get(ctx, key, configMap); err != nil {
		return nil
	}
	return certificatesIn([]byte(configMap.Data[names.TLSAuthority]))
}

// authoritiesIn returns the certificates in the file that --ca-file names.
func authoritiesIn(file string, stdin io.Reader) ([]*x509.Certificate, error) {
	data, err := files.Small(file, stdin)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	found := certificatesIn(data)
	if len(found) == 0 {
		return nil, fmt.Errorf("--ca-file %q: the file contains no certificates in PEM format; write the authorities' "+
			"certificates to the file", file)
	}
	return found, nil
}

// certificatesIn returns the certificates in PEM data. It skips other blocks, invalid certificates, and certificates
// whose key is so long that the command would not respond for minutes: the author of a stack chooses them.
func certificatesIn(data []byte) []*x509.Certificate {
	var found []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil && !cabundle.HasLongKey(certificate) {
			found = append(found, certificate)
		}
	}
	return found
}
