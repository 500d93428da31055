package migrate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/planner"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/progress"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// maxRuns is the maximum number of times that a migration restarts. A migration restarts if the
// CustomResourceDefinition changes during the migration.
const maxRuns = 5

type migrateOptions struct {
	cluster kube.Flags
	storage string
	dryRun  bool
	// The following fields are for --dry-run without --storage.
	manifests.Sources
	output string
}

const (
	migrateHelp = `With --dry-run alone, list the stacks in a cluster or in the files in --filename.
For each stack, the list shows:

  - the API version in which the stack was created
  - which objects this operator has adopted, and which it has not
  - the changes that take effect when the pods are next replaced
  - the problems that you have to solve: fields that no version has, stacks that the
    operator rejects in their present form, objects that have another owner, and
    images whose release is not known

You can also run the command before you install this operator. It reads the operator's
ConfigMap, the stacks with their objects, and the ConfigMaps that the stacks refer to.
It writes nothing, and it reports the objects that you cannot read. The exit code is 1
if a stack is rejected or the stacks cannot be listed.

With --storage, make VERSION the version in which the cluster stores stacks. The
command rewrites every stored stack in this version, and removes the other version
from the stored versions in the CustomResourceDefinition (the definition). Only the
stored form of the stacks changes. Running servers are not affected.

After an upgrade, the operator itself migrates the stacks to v1alpha2. Use this command
to return to the previous operator: the API server rejects the previous operator's
definition while stacks are stored in v1alpha2. Proceed in this order:

  1. Run kubectl llamastack migrate --storage v1alpha1.
     The operator must be running, because its webhook converts the stacks. The
     operator does not change the storage version back.
  2. Delete this operator's Deployment, admission policy and validating webhook.
  3. Run kubectl replace -f with the previous operator's definition, and install that
     operator.

Do not apply this operator's manifests between the first and the last step. They make
v1alpha2 the storage version again, and the operator then migrates the stacks to it.

You can interrupt and repeat the command at any time. It requires permission to get
and patch the definition, to patch its status, and to list and patch all stacks. The
exit code is 1 if a stack could not be written or the cluster did not respond. In both
cases, the list of stored versions does not change.`

	migrateExample = `  # show how the stacks change; you can run this before or after you replace the operator
  kubectl llamastack migrate --dry-run

  # show the same for manifests, without a cluster
  kubectl llamastack migrate --dry-run -f deploy/

  # show the stacks that would be written, and whether admission accepts them
  kubectl llamastack migrate --storage v1alpha1 --dry-run

  # store the stacks in v1alpha1
  kubectl llamastack migrate --storage v1alpha1`
)

// Command returns the command migrate.
func Command(streams app.Streams, version string) *cobra.Command {
	options := migrateOptions{}
	command := &cobra.Command{
		Use:     "migrate (--dry-run | --storage VERSION)",
		Short:   "Show how this operator takes over the stacks in a cluster, or store the stacks in another version",
		Long:    migrateHelp,
		Example: migrateExample,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := app.Interruptible(command)
			defer stop()
			if options.storage == "" && options.dryRun {
				return runSurvey(ctx, command.InOrStdin(), streams, version, options)
			}
			return runMigrate(ctx, streams, version, options)
		},
	}
	options.addFlags(command)
	return command
}

// addFlags adds the flags. --storage excludes the flags for an inventory: --filename, --namespace, --operator-config
// and --output.
func (o *migrateOptions) addFlags(command *cobra.Command) {
	o.cluster.AddConnection(command)
	flags := command.Flags()
	flags.StringVar(&o.storage, "storage", "",
		"version to store stacks in: "+strings.Join(app.APIVersions, " or "))
	flags.BoolVar(&o.dryRun, "dry-run", false, "write nothing, and show how the stacks change; with "+
		"--storage, list the stacks that would be written and those that cannot be written")
	flags.StringArrayVarP(&o.Files, "filename", "f", nil, "with --dry-run: file or folder with manifests to read "+
		"instead of a cluster; - for standard input; can be repeated")
	flags.StringVarP(&o.Namespace, "namespace", "n", "", "with --dry-run: the only namespace to read; for files, "+
		"the namespace for objects that specify no namespace")
	flags.StringVar(&o.OperatorConfig, "operator-config", "", "with --dry-run: file with the operator's "+
		"ConfigMap, "+names.OperatorConfigMap+" (default: the one in the cluster)")
	flags.StringVarP(&o.output, "output", "o", app.FormTable, "with --dry-run: table, json or yaml")
	for _, flag := range []string{"filename", "namespace", "operator-config", "output"} {
		command.MarkFlagsMutuallyExclusive("storage", flag)
	}
	app.CompleteFixed(command, "storage", app.APIVersions)
}

func runMigrate(ctx context.Context, streams app.Streams, version string, options migrateOptions) error {
	if options.storage == "" {
		return errors.New(`required flag(s) "storage" not set; set --storage VERSION, or set --dry-run to show how the stacks change`)
	}
	if !slices.Contains(app.APIVersions, options.storage) {
		return app.UnknownValue("--storage", options.storage, app.APIVersions)
	}
	c, err := options.cluster.Connect(version)
	if err != nil {
		return err
	}
	p := app.NewPrinter(streams)
	line := streams.Progress()
	defer line.Clear()
	m := migration.New(c.Client, names.CustomResourceDefinition, migration.Options{Observe: observe(line, p)})
	if options.dryRun {
		return tryMigration(ctx, streams, p, m, options.storage)
	}
	return migrate(ctx, p, m, options.storage)
}

// observe returns a function that shows the progress on a terminal, and always prints the final state.
func observe(line *progress.Line, p app.Printer) func(migration.Progress) {
	return migration.Sparsely(func(now migration.Progress) {
		if now.Pending() > 0 {
			line.Show("%d of %d stacks", now.Migrated+now.Failed, now.Objects)
			return
		}
		line.Clear()
		p.Line("%d of %d stacks", now.Migrated+now.Failed, now.Objects)
	})
}

// runSurvey prints an inventory of the stacks in a cluster or in files.
func runSurvey(
	ctx context.Context, stdin io.Reader, streams app.Streams, version string, options migrateOptions,
) error {
	if err := app.CheckForm(options.output); err != nil {
		return err
	}
	p := app.NewPrinter(streams)
	found, err := options.inventory(ctx, stdin, p, version)
	if err != nil {
		return err
	}
	for _, text := range found.Unseen {
		p.Warning("not read: " + text)
	}
	var page bytes.Buffer
	err = found.write(&page, options.output)
	if _, failed := page.WriteTo(streams.Out); failed != nil {
		return failed
	}
	return err
}

func (o *migrateOptions) inventory(
	ctx context.Context, stdin io.Reader, p app.Printer, version string,
) (inventory, error) {
	if len(o.Files) > 0 {
		o.Namespace = cmp.Or(o.Namespace, dryrun.DefaultNamespace)
		found, err := o.Read(stdin, p) //nolint:contextcheck // a kustomization has its own time limit
		if err != nil {
			return inventory{}, err
		}
		return takeovers(found), nil
	}
	c, err := o.cluster.Connect(version)
	if err != nil {
		return inventory{}, err
	}
	v := surveyor{Reader: planner.New(c, version), found: inventory{Stacks: []takeover{}}}
	if err = v.ReadConfig(ctx, o.OperatorConfig, stdin, p); err != nil && o.OperatorConfig != "" {
		return v.found, err
	}
	if err == nil {
		err = v.survey(ctx, o.Namespace)
	}
	if _, said := errors.AsType[*app.Rejection](err); err != nil && !said {
		err = &app.Rejection{Problems: []string{err.Error()}, Summary: "the objects in the cluster could not be read"}
	}
	v.found.Unseen = v.Unknown
	return v.found, err
}

// tryMigration tests a migration without writing anything. It prints the stacks that a migration would write, as a list
// on standard output.
func tryMigration(
	ctx context.Context, streams app.Streams, p app.Printer, m *migration.Migrator, storage string,
) error {
	stacks, result, err := m.Try(ctx, storage)
	if err != nil {
		return interrupted(err)
	}
	for _, stack := range stacks {
		fmt.Fprintln(streams.Out, stack)
	}
	p.Note(fmt.Sprintf("without --dry-run, the command stores the listed stacks (%d) in %s, unless they are already "+
		"stored in this version; this run changed nothing", len(stacks), storage))
	return unmigrated(result)
}

// migrate changes the storage version, and stores every stack in the new version.
func migrate(ctx context.Context, p app.Printer, m *migration.Migrator, storage string) error {
	changed, err := m.SetStorageVersion(ctx, storage)
	if err != nil {
		return interrupted(err)
	}
	if changed {
		p.Line("the storage version is now %s", storage)
	}
	result, err := runUnchanged(ctx, p, m)
	if err != nil {
		return interrupted(err)
	}
	if result.Version != storage {
		return &app.Rejection{Summary: fmt.Sprintf("another client changed the storage version back to %s during the "+
			"migration; stop that client, and run the same command again", result.Version)}
	}
	if err := unmigrated(result); err != nil {
		return err
	}
	p.OK(fmt.Sprintf("every stack is stored in %s, and the CustomResourceDefinition lists no other stored version",
		storage))
	return nil
}

// runUnchanged runs the migration. If the CustomResourceDefinition changes during a run, it runs the migration again,
// at most maxRuns times.
func runUnchanged(ctx context.Context, p app.Printer, m *migration.Migrator) (migration.Result, error) {
	result, err := m.Run(ctx)
	for range maxRuns {
		if !errors.Is(err, migration.ErrChanged) {
			break
		}
		p.Note("the CustomResourceDefinition changed during the migration; the migration is starting again")
		result, err = m.Run(ctx)
	}
	return result, err
}

// unmigrated returns an error that lists the stacks that could not be written, or nil if all were written.
func unmigrated(result migration.Result) error {
	if result.Failed == 0 {
		return nil
	}
	return &app.Rejection{
		Problems: result.FailedObjects(),
		Summary: fmt.Sprintf("%d of %d stacks cannot be written, so the list of stored versions does not change; "+
			"correct these stacks, and run the command again",
			result.Failed, result.Objects),
	}
}

// interrupted returns the error for a migration that did not finish.
func interrupted(err error) error {
	return &app.Rejection{Problems: []string{err.Error()}, Summary: "the migration is not finished; stacks that are already written " +
		"remain in the new version; run the same command again to continue"}
}
