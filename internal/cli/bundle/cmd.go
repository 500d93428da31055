package bundle

import (
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
)

// Command returns the command bundle.
func Command(streams app.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "bundle",
		Short: "Load the images from a bundle into the registry of a cluster without internet access",
		Long: `Load the images from a bundle. A bundle is an archive for clusters without internet
access. It contains images, manifests, the chart, samples and kubectl-llamastack. To
create a bundle, run make airgap-bundle.`,
	}
	command.AddCommand(newBundleLoadCommand(streams))
	return command
}
