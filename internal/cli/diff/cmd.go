package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/compare"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/planner"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
)

// codeError is the exit code of diff for an error. It is not 1, because exit code 1 means that there are differences.
const codeError = 2

type diffOptions struct {
	planner.Flags
	manifests.ImageFlags
	// previous is a file with the running stacks. Empty means that the command reads them from the cluster.
	previous string
	output   string
}

const (
	diffHelp = `Compare each LlamaStackDistribution in the files with the stack in the cluster, and
show the effects of an edit before you apply it:

  - whether the pods restart, and which part of the pod template is the cause
  - whether a preflight runs
  - the data that the change leaves behind
  - the changes for clients
  - each changed key of the configuration with the source of its value: the field of
    the spec, or the base configuration
  - each changed object

The command runs the operator's own code on the stack in the files and on the stack
in the cluster. It reads the stack, the Deployment, the PersistentVolumeClaim, the
ConfigMaps that the stack refers to, and the operator's ConfigMap and Deployment. If the
stack is exposed, it also reads the other stacks. It reads no Secret, stores nothing,
and reports the objects that you cannot read. It asks the API server whether it would
accept the changed objects, as validate --dry-run=server does. With --previous, it
compares the files with the manifests in another file or folder, without a cluster. It
shows only values that are known to hold no secrets, and "<redacted>" in place of all
others.

The exit codes are the same as for kubectl diff:
  0  no difference
  1  differences
  2  an error: a manifest is invalid, the cluster does not respond, or the command
     line is invalid`

	diffExample = `  # show the effects of an edit
  kubectl llamastack diff -f stack.yaml

  # show the objects as a unified diff
  kubectl llamastack diff -f stack.yaml -o diff

  # compare two manifests, without a cluster
  kubectl llamastack diff -f stack.yaml --previous running.yaml`
)

// Command returns the command diff.
func Command(streams app.Streams, version string) *cobra.Command {
	options := diffOptions{}
	command := &cobra.Command{
		Use:     "diff -f FILE",
		Short:   "Show the effects of an edit to a stack before you apply it",
		Long:    diffHelp,
		Example: diffExample,
		Args:    manifests.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := app.Interruptible(command)
			defer stop()
			return runDiff(ctx, command.InOrStdin(), streams, version, options)
		},
	}
	options.Add(command, "file or folder with manifests", "the one in the cluster")
	options.AddImage(command)
	options.AddNamespace(command)
	flags := command.Flags()
	flags.StringVar(&options.previous, "previous", "",
		"file or folder with the manifests of the running stacks, to read instead of a cluster; - for standard input")
	flags.StringVarP(&options.output, "output", "o", formText, strings.Join(diffForms, ", "))
	app.Must(command.MarkFlagRequired("filename"))
	kube.ExcludeConnection(command, "previous")
	app.CompleteFixed(command, "output", diffForms)
	return command
}

const (
	formText = "text"
	formDiff = "diff"
)

var diffForms = []string{formText, formDiff, app.FormJSON, app.FormYAML}

func runDiff(ctx context.Context, stdin io.Reader, streams app.Streams, version string, options diffOptions) error {
	if !slices.Contains(diffForms, options.output) {
		return app.UnknownValue("--output", options.output, diffForms)
	}
	p := app.NewPrinter(streams)
	d, err := options.differ(ctx, stdin, p, version)
	if err != nil {
		return asError(err)
	}
	compared, changes, problems, err := d.changes(ctx)
	if err != nil {
		return err
	}
	err = writeChanges(streams, options.output, compared, changes)
	if len(problems) > 0 {
		return &app.Rejection{
			Problems: problems, Code: codeError,
			Summary: fmt.Sprintf("stacks that were not compared: %d of %d",
				len(d.found.Stacks)-len(changes), len(d.found.Stacks)),
		}
	}
	return err
}

// changes compares all stacks. It returns the compared stacks, each with its changes, and the problems of the other
// stacks.
func (d *differ) changes(ctx context.Context) ([]dryrun.Stack, []change.Change, []string, error) {
	var compared []dryrun.Stack
	var changes []change.Change
	var problems []string
	for _, s := range d.found.Stacks {
		changed, err := d.change(ctx, s)
		if rejected, ok := errors.AsType[*app.Rejection](err); ok {
			problems = append(problems, rejected.Problems...)
			continue
		}
		if err != nil {
			return nil, nil, nil, &app.Rejection{
				Problems: []string{s.Title() + ": " + err.Error()}, Summary: "nothing was compared", Code: codeError,
			}
		}
		compared, changes = append(compared, s), append(changes, changed)
	}
	return compared, changes, problems, nil
}

// asError sets the exit code of a rejection to the code for errors, because the default code means that there are
// differences.
func asError(err error) error {
	if rejected, ok := errors.AsType[*app.Rejection](err); ok {
		rejected.Code = codeError
		return rejected
	}
	return err
}

// writeChanges prints the changes. If there are differences, it returns a rejection without a message.
func writeChanges(streams app.Streams, form string, stacks []dryrun.Stack, changes []change.Change) error {
	var page bytes.Buffer
	for i := range changes {
		switch form {
		case formText:
			if i > 0 {
				page.WriteByte('\n')
			}
			changes[i].Write(&page, stacks[i].File)
		case formDiff:
			if err := changes[i].WriteDiff(&page); err != nil {
				return err
			}
		}
	}
	if len(changes) > 0 && (form == app.FormJSON || form == app.FormYAML) {
		if err := app.WriteData(&page, form, changes); err != nil {
			return err
		}
	}
	if form == formText {
		app.Fit(&page, streams.Width)
	}
	if _, err := page.WriteTo(streams.Out); err != nil {
		return err
	}
	if slices.ContainsFunc(changes, func(one change.Change) bool { return one.Differs() }) {
		return &app.Rejection{Code: 1}
	}
	return nil
}

// differ compares the stacks in files with the stacks in a cluster or in other files.
type differ struct {
	printer app.Printer
	found   *dryrun.Manifests
	// reader reads the cluster. Nil means that the other side is `previous`.
	reader   *planner.Reader
	previous *dryrun.Manifests
}

// differ returns the differ for the files. It reads the files, and then the operator's ConfigMap or the files in
// --previous.
func (o *diffOptions) differ(ctx context.Context, stdin io.Reader, p app.Printer, version string) (*differ, error) {
	d := &differ{printer: p}
	from := o.Sources("")
	from.OperatorConfig = o.OperatorConfig
	var err error
	if o.previous == "" {
		if d.reader, err = o.Reader(version); err != nil {
			return nil, err
		}
		from = o.Sources(d.reader.Cluster.Namespace)
	}
	if d.found, err = from.ReadStrictly(stdin, p); err != nil { //nolint:contextcheck // a kustomization has its own time limit
		return nil, err
	}
	if err := o.SetImage(d.found, stdin); err != nil {
		return nil, err
	}
	if d.reader == nil {
		d.previous, err = compare.ReadPrevious(d.found, o.previous, from.Namespace, stdin)
		return d, err
	}
	err = d.reader.ReadConfig(ctx, o.OperatorConfig, stdin, p)
	d.found.Config = d.reader.Config
	return d, app.OrSummary(err, "nothing was compared")
}
