package image

import (
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
)

// Command returns the command image.
func Command(streams app.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "image",
		Short: "Label an image for the operator, or show the data that the operator reads from an image",
		Long: `Label a server image or an external provider image for the operator, or show the data
that the operator reads from an image. IMAGE is the name of an image in a registry, or
oci:DIR, oci:DIR:TAG or oci:DIR@DIGEST for an image in an OCI layout in a directory.
The commands use the credentials of docker login.`,
	}
	command.AddCommand(newImageInspectCommand(streams), newImageLabelCommand(streams))
	return command
}
