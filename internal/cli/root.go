package cli

import (
	"cmp"
	"errors"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/progress"
)

// Streams holds the input and the outputs of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Colour enables coloured messages with --color auto. Set it only for a terminal.
	Colour bool
	// Width is the number of columns of the terminal that Out is. Zero means that Out is not a terminal.
	Width int
	// Terminal reports whether Err is a terminal. Progress is shown only there.
	Terminal bool

	// choice is the value of --color.
	choice *colourChoice
}

// coloured reports whether messages are coloured.
func (s *Streams) coloured() bool {
	if s.choice == nil || *s.choice == colourAuto {
		return s.Colour
	}
	return *s.choice == colourAlways
}

// progress returns the line that shows the progress of a command.
func (s *Streams) progress() *progress.Line {
	if !s.Terminal {
		return progress.New(nil)
	}
	return progress.New(s.Err)
}

// colourChoice is a value of --color.
type colourChoice string

// The values of --color.
const (
	colourAuto   colourChoice = "auto"
	colourAlways colourChoice = "always"
	colourNever  colourChoice = "never"
)

var colourChoices = []string{string(colourAuto), string(colourAlways), string(colourNever)}

// String returns the value.
func (c *colourChoice) String() string { return string(*c) }

// Type returns the name of the value in help texts.
func (c *colourChoice) Type() string { return "string" }

// Set checks and sets the value.
func (c *colourChoice) Set(value string) error {
	if !slices.Contains(colourChoices, value) {
		return unknownValue("--color", value, colourChoices)
	}
	*c = colourChoice(value)
	return nil
}

// exitCodes is the text about exit codes that the help of the root ends with. The page docs/reference/cli/README.md has the same table.
const exitCodes = `Exit codes:
  0  success
  1  the command found a problem: a manifest, an image or a stack is rejected, or the work is not done
  2  the command line is wrong: an unknown command, flag or value, or a file that does not exist`

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
kubectl llamastack render -f stack.yaml

` + exitCodes,
		Version:       versionOr(version),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	if streams.choice == nil {
		streams.choice = new(colourChoice)
	}
	*streams.choice = colourAuto
	root.PersistentFlags().Var(streams.choice, "color", "colours in messages: auto (on a terminal, unless $NO_COLOR is set), always or never")
	addGroup(root, "Commands for manifests:", newInitCommand(streams), newRenderCommand(streams),
		newValidateCommand(streams, root.Version),
		newProvidersCommand(streams), newUpgradeCheckCommand(streams, root.Version), newConvertCommand(streams))
	addGroup(root, "Commands for clusters:", newStatusCommand(streams, root.Version),
		newDiffCommand(streams, root.Version),
		newModelsCommand(streams, root.Version), newChatCommand(streams, root.Version),
		newOpenCommand(streams, root.Version), newLogsCommand(streams, root.Version),
		newEventsCommand(streams, root.Version), newDoctorCommand(streams, root.Version),
		newSupportBundleCommand(streams, root.Version), newMigrateCommand(streams, root.Version),
		newVersionCommand(streams, root.Version))
	addGroup(root, "Commands for images:", newImageCommand(streams), newBundleCommand(streams))
	completeAll(root)
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
	streams.choice = new(colourChoice)
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

func versionOr(version string) string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "development"
}

// must panics on errors about flags that the lines above declare.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
