package validate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/compare"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
)

// offlineChange plans a stack as a change to the running stack with the same name and namespace.
func offlineChange(m *dryrun.Manifests, s dryrun.Stack, previous *dryrun.Manifests) dryrun.Outcome {
	sides := change.Since(previous, m, s)
	found, before := sides.After, sides.Before
	switch {
	case !sides.Input.Exists:
		found.Notes = append(found.Notes, fmt.Sprintf("--previous does not contain stack %q in namespace %q, so this command "+
			"does not check the data of the stack", s.Object.Name, s.Object.Namespace))
	case before.Plan != nil:
	case len(before.Errors) > 0:
		found.Warnings = append(found.Warnings, "this command cannot generate a configuration from the stack in --previous, so the "+
			"command does not check the data of the stack: "+sides.Running.Title()+": "+before.Errors[0])
	default:
		found.Notes = append(found.Notes, "the configuration of the stack in --previous is in an image, which this command does not "+
			"read, so the command does not check the data of the stack")
	}
	return found
}

// refusedReport returns the report for files from which no stack can be read. It contains the problems with the files.
func refusedReport(rejected *app.Rejection) *findings.Report {
	report := &findings.Report{
		Invalid: len(rejected.Problems), Stacks: []findings.Object{},
		Findings: []findings.Finding{},
	}
	for _, problem := range rejected.Problems {
		report.Findings = append(report.Findings, findings.Finding{
			Level: findings.Error, Rule: findings.RuleInvalid,
			Message: problem,
		})
	}
	return report
}

type validateOptions struct {
	manifests.Sources
	manifests.ImageFlags
	strict bool
	output string
	// previous is a file with the running stacks. Empty means that stored data is not checked.
	previous string
	// dryRun is "client", or "server" to ask the API server that the flags select. The cluster is nil for "client".
	dryRun  string
	flags   kube.Flags
	cluster *kube.Cluster
}

const (
	validateHelp = `Run the checks of admission and the operator on every LlamaStackDistribution in the
files. The command checks the fields, the references between them, and whether the
server release accepts the generated configuration. Errors contain the field, the value
and the remedy. The exit code is 1 if a manifest has an error.

Set --previous to the manifests of the running stacks to report the stored data that
a change from those manifests leaves behind, and how to migrate or recover the data.
Data that cannot be recovered is an error until an annotation on the stack accepts the
loss. A change to the volume that Kubernetes does not allow is also an error.

The command reads no images. If the configuration is in your own image, the command
checks the parts of the stack that do not depend on it, and a note names the image. To
check everything, set --base to the configuration, and --release to the release of the
server if the tag of the image does not specify it.

Set --dry-run=server to also ask the API server of a cluster whether it would accept the
objects that the operator would apply for each stack. The dry run stores nothing, and has
your permissions. A quota, a policy or a webhook that rejects an object causes a warning.

With --output json, sarif or github, the command prints the findings to standard
output, with the line and the column of the field. Text from standard input or from
Kustomize has no file, so findings about this text contain its origin instead of a line
and a column.

You can add more files as arguments, as tools such as pre-commit do:
validate --if-present -f a.yaml b.yaml`

	validateExample = `  kubectl llamastack validate -f stack.yaml

  # check every manifest in a folder, and treat warnings as errors
  kubectl llamastack validate --strict -f deploy/

  # write the findings with file and line for code scanning, or as annotations on a GitHub pull request
  kubectl llamastack validate -f deploy/ -o sarif > findings.sarif
  kubectl llamastack validate -f deploy/ -o github

  # check the manifests that Kustomize builds from a folder
  kubectl llamastack validate -k overlays/production

  # check a stack with your own image
  kubectl llamastack image inspect registry.example.com/team/server:prod -o config > config.yaml
  kubectl llamastack validate -f stack.yaml --base config.yaml --release 0.7.3

  # also ask the API server whether it would accept the objects of the stack
  kubectl llamastack validate -f stack.yaml --dry-run=server

  # show the data that a change to the spec leaves behind
  kubectl get llsd my-stack -o yaml | kubectl llamastack validate -f stack.yaml --previous -`
)

// Command returns the command validate.
func Command(streams app.Streams, version string) *cobra.Command {
	options := validateOptions{}
	command := &cobra.Command{
		Use:     "validate -f FILE [FILE...]",
		Short:   "Check manifests as the operator does, and report field paths",
		Long:    validateHelp,
		Example: validateExample,
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			options.Files = append(options.Files, args...)
			ctx, stop := app.Interruptible(command)
			defer stop()
			if err := options.connect(command, version); err != nil {
				return err
			}
			return runValidate(ctx, command.InOrStdin(), streams, version, options)
		},
	}
	options.AddFlags(command)
	options.AddSelector(command)
	options.AddImage(command)
	flags := command.Flags()
	options.flags.AddConnection(command)
	flags.StringVar(&options.dryRun, "dry-run", dryRuns[0],
		"client, or server to also ask the API server whether it would accept the objects of the stacks; objects without a "+
			"namespace are then in the namespace of the context")
	app.CompleteFixed(command, "dry-run", dryRuns)
	flags.BoolVar(&options.strict, "strict", false, "treat warnings as errors")
	flags.StringVarP(&options.output, "output", "o", findings.FormText, strings.Join(findings.Forms(), ", "))
	app.CompleteFixed(command, "output", findings.Forms())
	flags.BoolVar(&options.Optional, "if-present", false, "skip files without a stack, and succeed if no file contains a stack")
	flags.StringVar(&options.previous, "previous", "",
		"file or folder with the manifests of the running stacks, to report data that the change leaves behind; - for "+
			"standard input")
	return command
}

// dryRuns are the values of --dry-run.
var dryRuns = []string{"client", "server"}

// connect connects to the cluster for --dry-run=server. Without --namespace, the namespace is that of the context.
// Otherwise, it rejects flags for the connection, which have no effect.
func (o *validateOptions) connect(command *cobra.Command, version string) (err error) {
	switch o.dryRun {
	case "client":
		kube.Connection(command).VisitAll(func(flag *pflag.Flag) {
			if flag.Changed && err == nil {
				err = fmt.Errorf("--%[1]s: the command connects to a cluster only with --dry-run=server; set --dry-run=server, or remove --%[1]s", flag.Name)
			}
		})
		return err
	case "server":
	default:
		return app.UnknownValue("--dry-run", o.dryRun, dryRuns)
	}
	if o.cluster, err = o.flags.Connect(version); err != nil {
		return err
	}
	if !command.Flags().Changed("namespace") {
		o.Namespace = o.cluster.Namespace
	}
	if _, err := o.cluster.Version(); err != nil {
		return app.Rejected(err)
	}
	return nil
}

func runValidate(
	ctx context.Context, stdin io.Reader, streams app.Streams, version string, options validateOptions,
) error {
	if !slices.Contains(findings.Forms(), options.output) {
		return app.UnknownValue("--output", options.output, findings.Forms())
	}
	p := app.NewPrinter(streams)
	report, err := options.check(ctx, stdin, p)
	rejected, isRejected := errors.AsType[*app.Rejection](err)
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
		return &app.Rejection{Summary: rejected.Summary}
	}
	return nil
}

// planner returns the function that plans a stack. With --previous, the function plans a change to the running stack.
func (o *validateOptions) planner(found *dryrun.Manifests, stdin io.Reader) (func(dryrun.Stack) dryrun.Outcome, error) {
	if o.previous == "" {
		return found.Plan, nil
	}
	previous, err := compare.ReadPrevious(found, o.previous, o.Namespace, stdin)
	if err != nil {
		return nil, err
	}
	return func(s dryrun.Stack) dryrun.Outcome { return offlineChange(found, s, previous) }, nil
}

// result is what the checks of one stack say.
type result struct {
	list  []findings.Finding
	valid bool
}

// check returns the findings for all stacks. With --output text, it also prints them. If a stack is invalid, the error
// is a rejection. If no stack can be read, the error is a rejection and the report is nil.
func (o *validateOptions) check(ctx context.Context, stdin io.Reader, p app.Printer) (*findings.Report, error) {
	found, err := o.ReadStrictly(stdin, p) //nolint:contextcheck // a kustomization has its own time limit
	if err != nil {
		return nil, err
	}
	if err := o.SetImage(found, stdin); err != nil {
		return nil, err
	}
	found.NotesUnknown = true
	check, err := o.planner(found, stdin)
	if err != nil {
		return nil, err
	}
	if o.cluster != nil {
		check = compare.OnServer(ctx, o.cluster, check)
	}
	results := make([]result, len(found.Stacks))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range found.Stacks {
		group.Go(func() error {
			outcome := check(found.Stacks[i])
			results[i].list, results[i].valid = dryrun.Reported(&found.Stacks[i], &outcome, o.strict)
			return nil
		})
	}
	_ = group.Wait() // no function of the group returns an error
	report := &findings.Report{Stacks: []findings.Object{}, Findings: []findings.Finding{}}
	for i, r := range results {
		s := &found.Stacks[i]
		report.Findings = append(report.Findings, r.list...)
		report.Stacks = append(report.Stacks, s.Checked(r.valid))
		if !r.valid {
			report.Invalid++
		}
		if o.output == findings.FormText {
			for j := range r.list {
				p.Finding(s, &r.list[j])
			}
			if r.valid {
				p.OK(s.Title())
			}
		}
	}
	if report.Invalid > 0 {
		return report, &app.Rejection{Summary: fmt.Sprintf("invalid stacks: %d of %d", report.Invalid, len(found.Stacks))}
	}
	return report, nil
}
