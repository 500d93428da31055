package cli

import "github.com/spf13/cobra"

func newBundleCommand(streams Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "bundle",
		Short: "Bring the images of a bundle into a registry that has no way out",
		Long: `Work with a bundle: the archive with images, manifests, chart, samples and command
line that make airgap-bundle writes for clusters without a way out.`,
	}
	command.AddCommand(newBundleLoadCommand(streams))
	return command
}
