package cli

import (
	"errors"
	"flag"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/line"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/repository"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// lineVariable is the environment variable that selects the Kubernetes line if the flag does not.
const lineVariable = "KUBERNETES_VERSION"

// newFlags returns the flag set of a command. description contains one or more sentences.
func newFlags(env environment, name, arguments, description string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(env.stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: cluster %s [flags]%s\n\n%s\n\nFlags:\n", name, arguments, description)
		flags.PrintDefaults()
	}
	return flags
}

// parse parses args, which may contain only flags.
func parse(flags *flag.FlagSet, args []string) error {
	if err := parseLeading(flags, args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return refuse(flags, fmt.Sprintf("unexpected argument %q", flags.Arg(0)))
	}
	return nil
}

// parseLeading parses the flags before the first argument that is not a flag.
func parseLeading(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return errUsage
	}
	return err
}

// refuse reports a command-line mistake.
func refuse(flags *flag.FlagSet, message string) error {
	fmt.Fprintf(flags.Output(), "cluster %s: %s\n", flags.Name(), message)
	return errUsage
}

// lineFlag adds the flag for the Kubernetes line.
func lineFlag(env environment, flags *flag.FlagSet) *string {
	name := env.getenv(lineVariable)
	if name == "" {
		name = line.Default
	}
	return flags.String("kubernetes", name, "Kubernetes `line` to run, such as "+line.Default+"; if set, $"+lineVariable+" is the default")
}

// nodeFlag adds the flag for a node.
func nodeFlag(flags *flag.FlagSet) *bool {
	return flags.Bool("node", false, "also run a node, so that pods run; requires root")
}

// loadLine returns the selected line of the work tree.
func loadLine(env environment, name string) (line.Line, error) {
	root, err := repository.Find(env.folder)
	if err != nil {
		return line.Line{}, err
	}
	return line.Load(line.Folder(string(root)), name)
}

// readRecord returns the record of the control plane in a state directory, and the directory's path.
func readRecord(env environment, dir string) (path string, record state.Record, err error) {
	root, err := repository.Find(env.folder)
	if err != nil {
		return "", state.Record{}, err
	}
	path = root.Path(dir)
	record, err = state.Read(path)
	return path, record, err
}
