package cli

import (
	"cmp"
	"errors"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/progress"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/visible"
)

// Streams contains the input and the outputs of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Color enables colored messages with --color auto. Set it only for a terminal.
	Color bool
	// Width is the number of columns of the terminal. Zero means that Out is not a terminal.
	Width int
	// Terminal reports whether Err is a terminal. Without a terminal, commands show no progress.
	Terminal bool

	// choice is the value of --color.
	choice *colorChoice
}

// colored reports whether messages have colors.
func (s *Streams) colored() bool {
	if s.choice == nil || *s.choice == colorAuto {
		return s.Color
	}
	return *s.choice == colorAlways
}

// progress returns the line that shows the progress of a command.
func (s *Streams) progress() *progress.Line {
	if !s.Terminal {
		return progress.New(nil)
	}
	return progress.New(visible.Raw(s.Err))
}

// colorChoice is a value of --color.
type colorChoice string

// These constants are the values of --color.
const (
	colorAuto   colorChoice = "auto"
	colorAlways colorChoice = "always"
	colorNever  colorChoice = "never"
)

var colorChoices = []string{string(colorAuto), string(colorAlways), string(colorNever)}

// String returns the value.
func (c *colorChoice) String() string { return string(*c) }

// Type returns the name of the value's type for help texts.
func (c *colorChoice) Type() string { return "string" }

// Set sets the value. It returns an error for an invalid value.
func (c *colorChoice) Set(value string) error {
	if !slices.Contains(colorChoices, value) {
		return unknownValue("--color", value, colorChoices)
	}
	*c = colorChoice(value)
	return nil
}

// exitCodes is the table of exit codes in the root command's help. The page docs/reference/cli/README.md contains the
// same codes.
const exitCodes = `Exit codes:
  0  success
  1  there is a problem: a manifest, an image or a stack is rejected, or the work is not complete
  2  the command line is invalid: an unknown command, flag or value, or a file that does not exist`

const rootHelp = `Write, check and operate stacks for the Llama Stack operator.

The commands for manifests run the operator's own code on your files and need no
cluster. The commands for clusters use your kubeconfig and your permissions.

If kubectl-llamastack is on the PATH, it is also a kubectl plugin:
kubectl llamastack render -f stack.yaml

` + exitCodes + `

The command diff has the exit codes of kubectl diff: 1 for a difference, and 2 for an
error of any kind.`

// NewCommand returns the command kubectl-llamastack with all its subcommands. `version` is the output of --version. If
// it is empty, versionOr determines the output.
func NewCommand(streams Streams, version string) *cobra.Command {
	streams.Out, streams.Err = visible.New(streams.Out), visible.New(streams.Err)
	root := &cobra.Command{
		Use:           "kubectl-llamastack",
		Short:         "Write, check and operate stacks for the Llama Stack operator",
		Long:          rootHelp,
		Version:       versionOr(version),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	if streams.choice == nil {
		streams.choice = new(colorChoice)
	}
	*streams.choice = colorAuto
	root.PersistentFlags().Var(streams.choice, "color",
		"colors in messages: auto (on a terminal, unless $NO_COLOR is set), always or never")
	addCommands(root, streams)
	completeAll(root)
	separateConnection(root)
	return root
}

// separateConnection makes the help of commands list the flags for the connection to a cluster in their own section.
func separateConnection(root *cobra.Command) {
	standard := root.UsageFunc()
	root.SetUsageFunc(func(command *cobra.Command) error {
		connection := kube.Connection(command)
		hide := func(hidden bool) { connection.VisitAll(func(flag *pflag.Flag) { flag.Hidden = hidden }) }
		hide(true)
		err := standard(command)
		hide(false)
		if connection.HasFlags() {
			command.Print("\nFlags for the connection:\n" + connection.FlagUsages())
		}
		return err
	})
}

func addCommands(root *cobra.Command, streams Streams) {
	version := root.Version
	addGroup(root, "Commands for manifests:", newInitCommand(streams), newRenderCommand(streams),
		newValidateCommand(streams, version), newProvidersCommand(streams), newUpgradeCheckCommand(streams, version),
		newConvertCommand(streams))
	addGroup(root, "Commands for clusters:", newStatusCommand(streams, version), newDiffCommand(streams, version),
		newModelsCommand(streams, version), newChatCommand(streams, version), newOpenCommand(streams, version),
		newLogsCommand(streams, version), newEventsCommand(streams, version), newDoctorCommand(streams, version),
		newSupportBundleCommand(streams, version), newMigrateCommand(streams, version), newVersionCommand(streams, version))
	addGroup(root, "Commands for images:", newImageCommand(streams), newBundleCommand(streams))
}

// addGroup adds a group of commands. The help lists the group under the title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, command := range commands {
		command.GroupID = title
		root.AddCommand(command)
	}
}

// Run executes the command line, prints its error, and returns the exit code. See exitCodes.
func Run(streams Streams, version string, args []string) int {
	streams.choice = new(colorChoice)
	streams.Out, streams.Err = visible.New(streams.Out), visible.New(streams.Err)
	root := NewCommand(streams, version)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	printer := newPrinter(streams)
	if rejected, ok := errors.AsType[*rejection](err); ok {
		printer.rejection(rejected)
		return cmp.Or(rejected.code, 1)
	}
	printer.problem(err.Error())
	return 2
}

// versionOr returns a version. For an empty version, it returns the version that Go recorded at build time, or
// "development" if Go recorded none.
func versionOr(version string) string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "development"
}

// must panics if cobra returns an error for a flag. Only an incorrect flag name in the code causes such an error.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
