package cli

import (
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
)

func newImageCommand(streams Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "image",
		Short: "Label an image for the operator, or show what the operator reads of one",
		Long: `Label the image of a server, or of an external provider, with what the operator
reads of it, or show what the operator reads of an image. IMAGE is the name of an
image in a registry, or oci:DIR[:TAG] for one of an OCI layout in a directory.
Credentials are those of docker login.`,
	}
	command.AddCommand(newImageInspectCommand(streams), newImageLabelCommand(streams))
	return command
}

// The flags of access.
const (
	flagInsecure = "insecure"
	flagCAFile   = "ca-file"
)

// access holds the flags for access to the registry of an image.
type access struct {
	insecure bool
	caFile   string
}

func (a *access) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVar(&a.insecure, flagInsecure, false, "ask the registry over plain HTTP, with any certificate, and at a local address")
	flags.StringVar(&a.caFile, flagCAFile, "",
		"file with certificates of authorities that the registry's certificate may be signed by, beside those of the system")
}

// options returns the options of a reader for the registry at host[:port].
func (a *access) options(found registry.Options, host string) (registry.Options, error) {
	if a.insecure && host != "" {
		found.Insecure = append(found.Insecure, host)
	}
	var err error
	found.RootCAs, err = authorities(a.caFile)
	return found, err
}

// registryOf returns the registry of an image. It returns "" for an image that is in no registry.
func registryOf(image string) string {
	ref, err := name.ParseReference(strings.TrimPrefix(image, "docker://"))
	if err != nil {
		return ""
	}
	return ref.Context().RegistryStr()
}

// maxAuthorities bounds the size of a certificate file.
const maxAuthorities = 4 << 20

// authorities returns the certificate authorities of the system and those of a file.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // those of the system alone
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flagCAFile, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if len(content) > maxAuthorities || !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("--%s: the file has no certificates in PEM form", flagCAFile)
	}
	return pool, nil
}

// withRemedy returns the text of an error about an image, with a remedy.
func withRemedy(err error) string {
	switch {
	case registry.NeedsInsecure(err):
		return fmt.Sprintf("%v; here --%s does so", err, flagInsecure)
	case registry.UnknownAuthority(err):
		return fmt.Sprintf("%v; name a file with the certificate of the authority by --%s", err, flagCAFile)
	case registry.NeedsLogin(err):
		return fmt.Sprintf("%v; log in with docker login, as a user who may do that", err)
	default:
		return err.Error()
	}
}
