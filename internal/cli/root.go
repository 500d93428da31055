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
	// Width is the number of columns of the terminal that Out is. Zero means that Out is not a terminal.
	Width int
}

// NewCommand returns kubectl-llamastack with all its commands. Version is printed by --version; empty means the version
// that Go recorded at build time.
func NewCommand(streams Streams, version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-llamastack",
		Short: "Write, check and operate stacks of the Llama Stack operator",
		Long: `Write, check and operate stacks of the Llama Stack operator.

The commands for manifests run the operator's own code on your files and need no
cluster. The commands for clusters use your kubeconfig and your permissions.

If kubectl-llamastack is on the PATH, it is also a kubectl plugin:
kubectl llamastack render -f stack.yaml`,
		Version:       versionOr(version),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	addGroup(root, "Commands for manifests:", newRenderCommand(streams), newValidateCommand(streams),
		newProvidersCommand(streams), newUpgradeCheckCommand(streams), newConvertCommand(streams))
	addGroup(root, "Commands for clusters:", newStatusCommand(streams, root.Version),
		newModelsCommand(streams, root.Version), newChatCommand(streams, root.Version),
		newOpenCommand(streams, root.Version), newLogsCommand(streams, root.Version),
		newEventsCommand(streams, root.Version), newDoctorCommand(streams, root.Version),
		newSupportBundleCommand(streams, root.Version), newMigrateCommand(streams, root.Version),
		newVersionCommand(streams, root.Version))
	addGroup(root, "Commands for images:", newImageCommand(streams), newBundleCommand(streams))
	return root
}

// addGroup adds commands under a title of the help text.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, command := range commands {
		command.GroupID = title
		root.AddCommand(command)
	}
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
	must(command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(release.Lines(),
		cobra.ShellCompDirectiveNoFileComp)))
}

// must panics on errors about flags that the lines above declare.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
