package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"
)

// codeError is the exit code of diff for an error, because 1 stands for differences.
const codeError = 2

type diffOptions struct {
	planningFlags
	// previous is a file with the running stacks. Empty means that they are read from the cluster.
	previous string
	output   string
}

func newDiffCommand(streams Streams, version string) *cobra.Command {
	options := diffOptions{}
	command := &cobra.Command{
		Use:   "diff -f FILE",
		Short: "Show what an edit of a stack changes before you apply it",
		Long: `Compare each LlamaStackDistribution of the files with the one in the cluster, and
show what an edit changes before you apply it: whether the pods restart, and which
part of the pod template is the cause; whether a preflight runs; which data the
change leaves behind; what changes for clients; each key of the configuration with
the field of the spec or the base that its value comes from; and each object.

Both sides are planned with the operator's own code. The command reads the stack,
its status, its Deployment and the ConfigMaps that it refers to. It reads no Secret,
writes nothing, and names what you may not read. With --previous it compares with
the manifests of a file, without a cluster. Credentials in values are replaced by
"<redacted>".

Exit codes, as of kubectl diff:
  0  no difference
  1  differences
  2  an error: a manifest is invalid or the cluster does not answer, or the command
     line is wrong`,
		Example: `  # what an edit changes
  kubectl llamastack diff -f stack.yaml

  # the objects as a unified diff
  kubectl llamastack diff -f stack.yaml -o diff

  # two manifests, without a cluster
  kubectl llamastack diff -f stack.yaml --previous running.yaml`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := interruptible(command)
			defer stop()
			return runDiff(ctx, command.InOrStdin(), streams, version, options)
		},
	}
	options.add(command, "file or folder with manifests", "that of the cluster")
	options.AddNamespace(command)
	flags := command.Flags()
	flags.StringVar(&options.previous, "previous", "",
		"file or folder with the manifests of what runs, - for standard input; no cluster is read")
	flags.StringVarP(&options.output, "output", "o", formText, "text, diff, json or yaml")
	must(command.MarkFlagRequired("filename"))
	command.MarkFlagsMutuallyExclusive("previous", "kubeconfig")
	command.MarkFlagsMutuallyExclusive("previous", "context")
	must(command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{
		formText, formDiff, formJSON,
		formYAML,
	}, cobra.ShellCompDirectiveNoFileComp)))
	return command
}

const (
	formText = "text"
	formDiff = "diff"
)

func runDiff(ctx context.Context, stdin io.Reader, streams Streams, version string, options diffOptions) error {
	switch options.output {
	case formText, formDiff, formJSON, formYAML:
	default:
		return fmt.Errorf("--output: %q must be %s, %s, %s or %s", options.output, formText, formDiff, formJSON,
			formYAML)
	}
	p := newPrinter(streams)
	d, err := options.differ(ctx, stdin, p, version)
	if err != nil {
		return asError(err)
	}
	var compared []dryrun.Stack
	var changes []change.Change
	var problems []string
	for _, s := range d.found.Stacks {
		changed, err := d.change(ctx, s)
		if rejected, ok := errors.AsType[*rejection](err); ok {
			problems = append(problems, rejected.problems...)
			continue
		}
		if err != nil {
			return &rejection{
				problems: []string{s.Title() + ": " + err.Error()}, summary: "nothing is compared",
				code: codeError,
			}
		}
		compared, changes = append(compared, s), append(changes, changed)
	}
	err = writeChanges(streams.Out, options.output, compared, changes)
	if len(problems) > 0 {
		return &rejection{
			problems: problems, code: codeError,
			summary: fmt.Sprintf("%d of %d stacks are not compared", len(d.found.Stacks)-len(changes),
				len(d.found.Stacks)),
		}
	}
	return err
}

// asError returns an error whose exit code is not that of a difference.
func asError(err error) error {
	if rejected, ok := errors.AsType[*rejection](err); ok {
		rejected.code = codeError
		return rejected
	}
	return err
}

// writeChanges prints the changes. It returns a rejection without a message if there are any.
func writeChanges(out io.Writer, form string, stacks []dryrun.Stack, changes []change.Change) error {
	var page bytes.Buffer
	differs := false
	for i := range changes {
		one := &changes[i]
		differs = differs || one.Differs()
		switch form {
		case formDiff:
			if err := one.WriteDiff(&page); err != nil {
				return err
			}
		case formText:
			if i > 0 {
				page.WriteByte('\n')
			}
			one.Write(&page, stacks[i].File)
		}
	}
	if len(changes) > 0 && (form == formJSON || form == formYAML) {
		if err := writeData(&page, form, changes); err != nil {
			return err
		}
	}
	if _, err := page.WriteTo(out); err != nil {
		return err
	}
	if differs {
		return &rejection{code: 1}
	}
	return nil
}

// differ compares the stacks of files with those of a cluster, or of earlier files.
type differ struct {
	printer printer
	found   *dryrun.Manifests
	// reader reads the cluster. Nil means that the stacks are compared with previous.
	reader   *reader
	previous *dryrun.Manifests
}

func (o *diffOptions) differ(ctx context.Context, stdin io.Reader, p printer, version string) (*differ, error) {
	d := &differ{printer: p}
	from := o.sources("")
	from.operatorConfig = o.operatorConfig
	var err error
	if o.previous == "" {
		if d.reader, err = o.reader(version); err != nil {
			return nil, err
		}
		from = o.sources(d.reader.cluster.Namespace)
	}
	if d.found, err = from.read(stdin, p); err != nil { //nolint:contextcheck // a kustomization has its own time limit
		return nil, err
	}
	if d.reader == nil {
		d.previous, err = readPrevious(d.found, o.previous, from.namespace, stdin)
		return d, err
	}
	err = d.reader.operatorConfig(ctx, o.operatorConfig, stdin, p)
	d.found.Config = d.reader.config
	return d, orSummary(err, "nothing is compared")
}
