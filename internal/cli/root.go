package cli

import (
	"errors"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Colour lets messages be coloured; set it for a terminal only.
	Colour bool
}

// NewCommand is kubectl-llamastack with all its verbs. Version is printed by
// --version; empty means the one Go recorded at build time.
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
	root.AddCommand(newRenderCommand(streams), newValidateCommand(streams), newProvidersCommand(streams), newUpgradeCheckCommand(streams),
		newConvertCommand(streams), newImageCommand(streams), newBundleCommand(streams),
		newMigrateCommand(streams, root.Version))
	return root
}

// Run executes the command line and gives the exit code: 0 for success, 1 when
// a manifest or an image is wrong or would not boot, or a migration is not done, 2
// when the command line is wrong.
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

// completeReleases offers the known release lines for a flag.
func completeReleases(command *cobra.Command, flag string) {
	must(command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(release.Lines(), cobra.ShellCompDirectiveNoFileComp)))
}

// must is for flags that the lines above declare.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
