package cli

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/bundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/chat"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/diff"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/doctor"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/events"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/image"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/logs"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/migrate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/models"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/open"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/providers"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/starter"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/support"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/upgrade"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/version"
)

// Streams contains the input and the outputs of a command.
type Streams = app.Streams

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
	streams = streams.Prepared()
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
	root.PersistentFlags().AddFlag(streams.ColorFlag())
	addCommands(root, streams)
	app.CompleteAll(root)
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
	own := root.Version
	addGroup(root, "Commands for manifests:", starter.Command(streams), render.Command(streams),
		validate.Command(streams, own), providers.Command(streams), upgrade.Command(streams, own),
		convert.Command(streams))
	addGroup(root, "Commands for clusters:", status.Command(streams, own), diff.Command(streams, own),
		models.Command(streams, own), chat.Command(streams, own), open.Command(streams, own),
		logs.Command(streams, own), events.Command(streams, own), doctor.Command(streams, own),
		support.Command(streams, own), migrate.Command(streams, own), version.Command(streams, own))
	addGroup(root, "Commands for images:", image.Command(streams), bundle.Command(streams))
}

// addGroup adds a group of commands. The help lists the group under the title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, command := range commands {
		command.GroupID = title
		if command.HasSubCommands() { // without these, cobra prints the help for an unknown word, and exits with 0
			command.Args, command.RunE = cobra.NoArgs, func(group *cobra.Command, _ []string) error { return group.Help() }
		}
		root.AddCommand(command)
	}
}

// Run executes the command line, prints its error, and returns the exit code. See exitCodes.
func Run(streams Streams, version string, args []string) int {
	streams = streams.Prepared()
	root := NewCommand(streams, version)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	printer := app.NewPrinter(streams)
	if rejected, ok := errors.AsType[*app.Rejection](err); ok {
		printer.Rejection(rejected)
		return cmp.Or(rejected.Code, 1)
	}
	printer.Problem(onOneLine(err.Error()))
	return 2
}

// elsewhere contains words that users of other tools try as commands, and what to use instead.
var elsewhere = map[string]string{
	"apply":     "run kubectl apply -f FILE",
	"ask":       "run kubectl llamastack chat NAME",
	"create":    "run kubectl llamastack init, then kubectl apply -f FILE",
	"delete":    "run kubectl delete llsd NAME",
	"describe":  "run kubectl llamastack status NAME",
	"edit":      "run kubectl edit llsd NAME",
	"explain":   "run kubectl llamastack render -f FILE --explain, or kubectl explain llsd.spec",
	"get":       "run kubectl get llsd",
	"install":   "to install the operator, see docs/how-to/install.md",
	"list":      "run kubectl get llsd",
	"run":       "run kubectl llamastack init, then kubectl apply -f FILE",
	"uninstall": "to uninstall the operator, see docs/how-to/uninstall.md",
}

// unknownCommand is the first line of cobra's message about a word that is not a command.
const unknownCommand = "unknown command %q for \"kubectl-llamastack\""

// onOneLine returns a message of cobra, whose suggestions are on further lines, as one line. For a word of other tools,
// cobra's suggestion is only a word with similar letters.
func onOneLine(message string) string {
	problem, suggested, found := strings.Cut(message, "\n\nDid you mean this?\n")
	var word string
	if _, err := fmt.Sscanf(problem, unknownCommand, &word); err == nil && elsewhere[word] != "" {
		return problem + "; " + elsewhere[word]
	}
	if names := strings.Fields(suggested); found && len(names) > 0 {
		return fmt.Sprintf("%s; did you mean %q?", problem, names[0])
	}
	return message
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
