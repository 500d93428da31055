package access

import (
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

// These constants are the names of the flags for access to a registry.
const (
	flagInsecure = "insecure"
	flagCAFile   = "ca-file"
)

// Flags holds the values of the flags for access to a registry.
type Flags struct {
	Insecure bool
	caFile   string
}

// Add adds the flags.
func (a *Flags) Add(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVar(&a.Insecure, flagInsecure, false, "allow plain HTTP, any certificate and local addresses for the "+
		"registry")
	flags.StringVar(&a.caFile, flagCAFile, "",
		"file with certificate authorities to trust for the registry, in addition to the system's authorities")
}

// Reader returns a reader for registries. --insecure applies only to the registry at `host`, which may include a port.
// --ca-file applies to every registry.
func (a *Flags) Reader(options registry.Options, host string) (*registry.Reader, error) {
	if a.Insecure && host != "" {
		options.Insecure = append(options.Insecure, host)
	}
	var err error
	if options.RootCAs, err = authorities(a.caFile); err != nil {
		return nil, err
	}
	return registry.New(options), nil
}

// RegistryOf returns the registry in the name of an image, or "" if the name is not a valid reference.
func RegistryOf(image string) string {
	ref, err := name.ParseReference(strings.TrimPrefix(image, "docker://"))
	if err != nil {
		return ""
	}
	return ref.Context().RegistryStr()
}

// maxAuthorities bounds the size of a certificate file.
const maxAuthorities = 4 << 20

// authorities returns the system's certificate authorities and the certificate authorities in a file.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // nil means the authorities of the system
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flagCAFile, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if len(content) > maxAuthorities {
		return nil, fmt.Errorf("--%s: the file has more than %d bytes; remove certificates that the registry does not need",
			flagCAFile, maxAuthorities)
	}
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("--%s: the file contains no certificates in PEM format; use a file with PEM certificates",
			flagCAFile)
	}
	return pool, nil
}

// Remedy returns the text of an error about an image, and adds the remedy.
func Remedy(err error) string {
	switch {
	case registry.NeedsInsecure(err):
		return fmt.Sprintf("%v; for this command, set --%s instead", err, flagInsecure)
	case registry.UnknownAuthority(err):
		return fmt.Sprintf("%v; set --%s to a file with the authority's certificate", err, flagCAFile)
	case registry.NeedsLogin(err):
		return fmt.Sprintf("%v; run docker login as a user with the required permissions", err)
	default:
		return err.Error()
	}
}
