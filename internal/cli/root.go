package cli

import (
	"errors"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// Streams holds the input and the outputs of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Colour enables coloured messages. Set it only for a terminal.
	Colour bool
}

// NewCommand returns kubectl-llamastack with all its commands. Version is printed by --version; empty means the version
// that Go recorded at build time.
func NewCommand(streams Streams, version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-llamastack",
		Short: "Look at what the Llama Stack operator makes of a manifest, without a cluster",
		Long: `Look at what the Llama Stack operator makes of a LlamaStackDistribution
without a cluster: the same code that runs in the operator reads your files.
One verb works on a cluster, migrate, and two on images, image and bundle.

Installed on the PATH it is a kubectl plugin: kubectl llamastack render -f stack.yaml`,
		Version:       versionOr(version),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.AddCommand(newInitCommand(streams), newRenderCommand(streams), newValidateCommand(streams, root.Version), newProvidersCommand(streams), newUpgradeCheckCommand(streams),
		newConvertCommand(streams), newImageCommand(streams), newBundleCommand(streams),
		newMigrateCommand(streams, root.Version))
	return root
}

// Run executes the command line and returns the exit code: 0 for success, 1 if a manifest or an image is wrong or would
// not boot, or a migration is not done, and 2 if the command line is wrong.
func Run(streams Streams, version string, args []string) int {
	root := NewCommand(streams, version)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	printer := newPrinter(streams)
	if rejected, ok := errors.AsType[*rejection](err); ok {
		printer.rejection(rejected)
		return 1
	}
	printer.problem(err.Error())
	return 2
}

func versionOr(version string) string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "development"
}

// completeReleases completes a flag with the known release lines.
func completeReleases(command *cobra.Command, flag string) {
	must(command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(release.Lines(), cobra.ShellCompDirectiveNoFileComp)))
}

// must panics on errors about flags that the lines above declare.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
