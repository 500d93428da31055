package cli

import (
	"fmt"
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

// flagInsecure is the flag for registries without HTTPS.
const flagInsecure = "insecure"

func addInsecureFlag(command *cobra.Command, insecure *bool) {
	command.Flags().BoolVar(insecure, flagInsecure, false,
		"ask the image's registry over plain HTTP, with any certificate, and at a local address")
}

// withInsecure are the options with which the registry of an image may be asked insecurely.
func withInsecure(options registry.Options, image string) registry.Options {
	if ref, err := name.ParseReference(strings.TrimPrefix(image, "docker://")); err == nil {
		options.Insecure = append(options.Insecure, ref.Context().RegistryStr())
	}
	return options
}

// withRemedy is an error about an image, with what helps here.
func withRemedy(err error) string {
	switch {
	case registry.NeedsInsecure(err):
		return fmt.Sprintf("%v; here --%s does so", err, flagInsecure)
	case registry.NeedsLogin(err):
		return fmt.Sprintf("%v; log in with docker login, as a user who may do that", err)
	default:
		return err.Error()
	}
}
