package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

type validateOptions struct {
	sources
	strict bool
	// previous is a file with the running stacks. Empty means that the data is not checked.
	previous string
}

func newValidateCommand(streams Streams) *cobra.Command {
	options := validateOptions{}
	command := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Check manifests as the operator does, and report field paths",
		Long: `Check every LlamaStackDistribution in the files as admission and the operator do:
its fields, the references between them, and the generated configuration against the
server release that reads it. Errors contain the field, the value and the remedy. The
exit code is 1 if a manifest has an error.

With --previous, which names the manifests of the running stacks, the command also
reports the stored data that the change leaves behind, and how to migrate or recover
it. Data that cannot be recovered is an error until an annotation of the stack accepts
its loss.`,
		Example: `  kubectl llamastack validate -f stack.yaml

  # check every manifest in a folder, and treat warnings as errors
  kubectl llamastack validate --strict -f deploy/

  # show the data that a change of the spec leaves behind
  kubectl get llsd my-stack -o yaml | kubectl llamastack validate -f stack.yaml --previous -`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runValidate(command.InOrStdin(), streams, options)
		},
	}
	options.addFlags(command)
	command.Flags().BoolVar(&options.strict, "strict", false, "treat warnings as errors")
	command.Flags().StringVar(&options.previous, "previous", "",
		"file or folder with the manifests of the running stacks, to report data that the change leaves behind; - for "+
			"standard input")
	return command
}

func runValidate(stdin io.Reader, streams Streams, options validateOptions) error {
	p := newPrinter(streams)
	found, err := options.read(stdin, p)
	if err != nil {
		return err
	}
	check := found.offline
	if options.previous != "" {
		previous, err := found.readPrevious(options.previous, options.namespace, stdin)
		if err != nil {
			return err
		}
		check = func(s stack) outcome { return found.offlineChange(s, previous) }
	}
	wrong := 0
	for _, s := range found.stacks {
		if !report(p, s, check(s), options.strict) {
			wrong++
		}
	}
	if wrong > 0 {
		return &rejection{summary: fmt.Sprintf("%d of %d stacks are invalid", wrong, len(found.stacks))}
	}
	return nil
}

// report prints the findings for one stack, and reports whether it is valid.
func report(p printer, s stack, found outcome, strict bool) bool {
	for _, problem := range found.errs {
		p.problem(s.title() + ": " + problem)
	}
	p.remarks(s, found)
	valid := len(found.errs) == 0 && (!strict || len(found.warnings)+len(found.lost) == 0)
	if valid {
		p.ok(s.title())
	}
	return valid
}
