package upgrade

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/planner"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
)

type upgradeOptions struct {
	// Without files or kustomizations, the command reads the stacks in the cluster.
	planner.Flags
	kustomizations []string
	to             string
	from           string
	output         string
	all            bool
}

const (
	upgradeHelp = `Generate the configuration of each stack for its current release and for another
release, and compare the two configurations. The report for a stack contains:

  1. the settings that need action, with the field and the remedy
  2. the data that the other release leaves behind
  3. the changes for clients
  4. the changes that fields of the spec cause

The report counts the changes that are not caused by fields of the spec. To list them,
set --all.

With --filename or --kustomize, the command reads the stacks in files. Otherwise it
reads the stacks in the cluster that --namespace, --all-namespaces, --selector or names
select. For stacks in a cluster, it first prints one line for each stack, and then the
reports of the stacks that need action. It reads the operator's ConfigMap, the stacks,
their Deployments, and the ConfigMaps that the stacks refer to. It writes nothing, and
reports the objects that you cannot read.

The operator does not change the release of a stack with spec.distribution.image.
Such a stack is pinned.

The exit code is 1 if a stack would not start.`

	upgradeExample = `  kubectl llamastack upgrade-check -f stack.yaml --to 0.8

  # check all stacks in a cluster
  kubectl llamastack upgrade-check --to 1.5 -A

  # print JSON for a pipeline
  kubectl llamastack upgrade-check --to 1.5 -l team=a -o json`
)

// Command returns the command upgrade-check.
func Command(streams app.Streams, version string) *cobra.Command {
	options := upgradeOptions{}
	command := &cobra.Command{
		Use:     "upgrade-check --to RELEASE [-f FILE | -k DIR | NAME…]",
		Short:   "Show the effects of a different server release on stacks: actions, data, clients",
		Long:    upgradeHelp,
		Example: upgradeExample,
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := app.Interruptible(command)
			defer stop()
			return runUpgradeCheck(ctx, command.InOrStdin(), streams, version, args, options)
		},
	}
	options.addFlags(command)
	return command
}

func (o *upgradeOptions) addFlags(command *cobra.Command) {
	o.Add(command, "file or folder with manifests to check instead of a cluster",
		"the one in the cluster, or none with --filename or --kustomize")
	o.AddScope(command)
	flags := command.Flags()
	flags.StringArrayVarP(&o.kustomizations, "kustomize", "k", nil,
		"folder with a kustomization.yaml, which kubectl builds, to check instead of a cluster; can be repeated")
	flags.StringVar(&o.to, "to", "", "server release to check, for example 0.8 or 0.7.3")
	flags.StringVar(&o.from, "from", "", "release to compare with (default: the release of the stack)")
	flags.StringVarP(&o.output, "output", "o", app.FormTable, "table, json or yaml")
	flags.BoolVar(&o.all, "all", false, "list the changes that are not caused by fields of the spec, and the reports for all "+
		"stacks")
	app.Must(command.MarkFlagRequired("to"))
	for _, source := range []string{"filename", "kustomize"} {
		command.MarkFlagsMutuallyExclusive(source, "all-namespaces")
		kube.ExcludeConnection(command, source)
	}
	app.CompleteReleases(command, "to")
	app.CompleteReleases(command, "from")
}

// hasFiles reports whether the command reads stacks from files.
func (o *upgradeOptions) hasFiles() bool { return len(o.Files)+len(o.kustomizations) > 0 }

// check returns an error if the command line selects stacks in two ways, or contains an invalid value of --output.
func (o *upgradeOptions) check(args []string) error {
	switch {
	case len(args) > 0 && o.hasFiles():
		return fmt.Errorf("%q: names select stacks in a cluster; remove the names, or remove --filename and --kustomize", args[0])
	case len(args) > 0 && o.AllNamespaces:
		return fmt.Errorf("%q: a name selects a stack in one namespace; remove the name, or set --namespace in place of "+
			"--all-namespaces", args[0])
	case len(args) > 0 && o.Selector != "":
		return fmt.Errorf("%q: a name cannot be used with --selector; remove the name, or remove --selector", args[0])
	default:
		return app.CheckForm(o.output)
	}
}

func runUpgradeCheck(
	ctx context.Context, stdin io.Reader, streams app.Streams, version string, args []string, options upgradeOptions,
) error {
	if err := options.check(args); err != nil {
		return err
	}
	p := app.NewPrinter(streams)
	var reports []Report
	var err error
	if options.hasFiles() {
		reports, err = options.ofFiles(stdin, p)
	} else {
		reports, err = options.ofCluster(ctx, stdin, p, version, args)
	}
	if err != nil {
		return err
	}
	var page bytes.Buffer
	err = app.WriteForm(&page, options.output, reports, func(page *bytes.Buffer) {
		options.write(page, reports, args)
		app.Fit(page, streams.Width)
	})
	if err == nil {
		_, err = page.WriteTo(streams.Out)
	}
	if wrong := Refusals(reports); err == nil && wrong > 0 {
		err = &app.Rejection{Summary: fmt.Sprintf("%d of %d stacks would not start on release %s", wrong, len(reports), options.to)}
	}
	return err
}

// write writes the reports for all stacks if --filename or --kustomize is set. Otherwise, it writes a table first, and
// then only the reports of stacks that need action, unless the command line contains names or --all.
func (o *upgradeOptions) write(page *bytes.Buffer, reports []Report, names []string) {
	inCluster := !o.hasFiles()
	if inCluster {
		app.WriteTable(page, Rows(reports))
	}
	quiet, written := 0, inCluster
	for i := range reports {
		if inCluster && len(names) == 0 && !o.all && !reports[i].NeedsAction() {
			quiet++
			continue
		}
		if written {
			page.WriteByte('\n')
		}
		reports[i].Write(page, o.all)
		written = true
	}
	if quiet > 0 {
		fmt.Fprintf(page, "\nno action is needed for %d of %d stacks; to see a report that is not shown, add the name of the stack, or set --all\n", quiet,
			len(reports))
	}
}

// ofFiles returns the reports for the stacks in files.
func (o *upgradeOptions) ofFiles(stdin io.Reader, p app.Printer) ([]Report, error) {
	from := o.Sources("")
	from.Kustomizations, from.Selector, from.OperatorConfig = o.kustomizations, o.Selector, o.OperatorConfig
	found, err := from.Read(stdin, p)
	if err != nil {
		return nil, err
	}
	reports := make([]Report, 0, len(found.Stacks))
	for _, s := range found.Stacks {
		reports = append(reports, o.report(found, s, nil))
	}
	return reports, nil
}

// ofCluster returns the reports for the stacks in a cluster.
func (o *upgradeOptions) ofCluster(
	ctx context.Context, stdin io.Reader, p app.Printer, version string, args []string,
) ([]Report, error) {
	r, err := o.Reader(version)
	if err != nil {
		return nil, err
	}
	reports, err := o.ofReader(ctx, stdin, p, r, args)
	for _, text := range r.Unknown {
		p.Warning("not known: " + text)
	}
	return reports, app.OrSummary(err, "the state of the cluster is unknown")
}

// progressStep is the number of stacks between two progress messages.
const progressStep = 100

// ofReader returns the reports for the stacks that a reader reads.
func (o *upgradeOptions) ofReader(
	ctx context.Context, stdin io.Reader, p app.Printer, r *planner.Reader, args []string,
) ([]Report, error) {
	stacks, err := r.Stacks(ctx, args)
	if err == nil {
		err = r.ReadConfig(ctx, o.OperatorConfig, stdin, p)
	}
	if err == nil && len(args) == 0 {
		err = r.ListDeployments(ctx, o.AllNamespaces)
	}
	if err != nil {
		return nil, err
	}
	reports := make([]Report, 0, len(stacks))
	for i := range stacks {
		if i > 0 && i%progressStep == 0 {
			p.Line("%d of %d stacks", i, len(stacks))
		}
		known, err := r.Running(ctx, &stacks[i])
		if err != nil {
			return nil, err
		}
		m, err := r.References(ctx, &stacks[i])
		if err != nil {
			return nil, err
		}
		s := dryrun.Stack{Object: &stacks[i], Decoded: true}
		reports = append(reports, o.report(m, s, known))
	}
	if len(stacks) == 0 {
		note := "the command line selects no stacks"
		if !o.AllNamespaces {
			note += "; to check the stacks in all namespaces, set --all-namespaces"
		}
		p.Note(note)
	}
	return reports, nil
}

// report returns the report for one stack. `known` contains the facts about the running stack, or is nil.
func (o *upgradeOptions) report(m *dryrun.Manifests, s dryrun.Stack, known *facts.Running) Report {
	in := Input{
		Namespace: s.Object.Namespace, Name: s.Object.Name, File: s.File, To: o.to,
		Deleting: s.Object.DeletionTimestamp != nil,
		Unknown:  m.Unreadable(s.Object),
	}
	if !s.Decoded {
		in.After.Errors = s.Errors
		return Of(in)
	}
	if s.Object.Spec.Distribution.Name == "" && len(s.Errors) == 0 {
		in.Image = s.Object.Spec.Distribution.Image
	}
	if in.Image != "" || in.Deleting || len(in.Unknown) > 0 {
		return Of(in)
	}
	today, next := s, s
	var err error
	if o.from != "" {
		if known != nil {
			known.Record.Places = nil // they are those of the running release
		}
		today.Object, err = dryrun.WithRelease(s.Object, o.from)
	}
	if err == nil {
		next.Object, err = dryrun.WithRelease(s.Object, o.to)
	}
	if err != nil {
		in.After.Errors = []string{err.Error()}
	} else {
		m = m.With(known)
		in.Before, in.After = m.PlanChange(today, m, next)
	}
	return Of(in)
}
