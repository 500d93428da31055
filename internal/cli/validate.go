package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/findings"
)

type validateOptions struct {
	sources
	strict bool
	output string
	// previous is a file with the running stacks. Empty means that the data is not checked.
	previous string
}

func newValidateCommand(streams Streams, version string) *cobra.Command {
	options := validateOptions{}
	command := &cobra.Command{
		Use:   "validate -f FILE [FILE...]",
		Short: "Check manifests as the operator does, and report field paths",
		Long: `Check every LlamaStackDistribution in the files as admission and the operator do:
its fields, the references between them, and the generated configuration against the
server release that reads it. Errors contain the field, the value and the remedy. The
exit code is 1 if a manifest has an error.

With --previous, which names the manifests of the running stacks, the command also
reports the stored data that the change leaves behind, and how to migrate or recover
it. Data that cannot be recovered is an error until an annotation of the stack accepts
its loss.

With --output json, sarif or github, the findings go to standard output with the
line and the column of the field. Generated text (standard input, kustomize) has
no file, so its findings state the origin.

More files may follow without the flag, as tools such as pre-commit give them:
validate --if-present -f a.yaml b.yaml`,
		Example: `  kubectl llamastack validate -f stack.yaml

  # check every manifest in a folder, and treat warnings as errors
  kubectl llamastack validate --strict -f deploy/

  # write findings with file and line for code scanning, or as comments on a pull request of GitHub
  kubectl llamastack validate -f deploy/ -o sarif > findings.sarif
  kubectl llamastack validate -f deploy/ -o github

  # check what kustomize builds from a folder
  kubectl llamastack validate -k overlays/production

  # show the data that a change of the spec leaves behind
  kubectl get llsd my-stack -o yaml | kubectl llamastack validate -f stack.yaml --previous -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			options.files = append(options.files, args...)
			return runValidate(command.InOrStdin(), streams, version, options)
		},
	}
	options.addFlags(command)
	options.addSelector(command)
	command.Flags().BoolVar(&options.strict, "strict", false, "treat warnings as errors")
	command.Flags().StringVarP(&options.output, "output", "o", findings.FormText,
		"form of the findings: "+strings.Join(findings.Forms(), ", "))
	must(command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(findings.Forms(),
		cobra.ShellCompDirectiveNoFileComp)))
	command.Flags().BoolVar(&options.optional, "if-present", false, "pass over files without a stack, and succeed if no file has one")
	command.Flags().StringVar(&options.previous, "previous", "",
		"file or folder with the manifests of the running stacks, to report data that the change leaves behind; - for "+
			"standard input")
	return command
}

func runValidate(stdin io.Reader, streams Streams, version string, options validateOptions) error {
	if !slices.Contains(findings.Forms(), options.output) {
		return unknownValue("--output", options.output, findings.Forms())
	}
	p := newPrinter(streams)
	report, err := options.check(stdin, p)
	rejected, isRejected := errors.AsType[*rejection](err)
	if options.output == findings.FormText || err != nil && !isRejected {
		return err
	}
	if report == nil {
		report = refusedReport(rejected)
	}
	var page bytes.Buffer
	if err := report.Write(&page, options.output, version); err != nil {
		return err
	}
	if _, err := page.WriteTo(streams.Out); err != nil {
		return err
	}
	if isRejected {
		return &rejection{summary: rejected.summary}
	}
	return nil
}

// check returns the findings for all stacks, and prints them for people unless a program reads them. The error is a
// rejection if a stack is not valid, or if no stack can be read; the report is then nil.
func (o *validateOptions) check(stdin io.Reader, p printer) (*findings.Report, error) {
	found, err := o.read(stdin, p)
	if err != nil {
		return nil, err
	}
	check := found.Plan
	if o.previous != "" {
		previous, err := readPrevious(found, o.previous, o.namespace, stdin)
		if err != nil {
			return nil, err
		}
		check = func(s dryrun.Stack) dryrun.Outcome { return offlineChange(found, s, previous) }
	}
	report := &findings.Report{Stacks: []findings.Object{}, Findings: []findings.Finding{}}
	for i := range found.Stacks {
		s := &found.Stacks[i]
		outcome := check(*s)
		list, valid := dryrun.Reported(s, &outcome, o.strict)
		report.Findings = append(report.Findings, list...)
		report.Stacks = append(report.Stacks, s.Checked(valid))
		if !valid {
			report.Invalid++
		}
		if o.output == findings.FormText {
			p.findings(s, list, valid)
		}
	}
	if report.Invalid > 0 {
		return report, &rejection{summary: fmt.Sprintf("%d of %d stacks are invalid", report.Invalid, len(found.Stacks))}
	}
	return report, nil
}

// findings prints the findings for one stack, and that the stack is valid.
func (p printer) findings(s *dryrun.Stack, list []findings.Finding, valid bool) {
	for i := range list {
		p.finding(s, &list[i])
	}
	if valid {
		p.ok(s.Title())
	}
}
