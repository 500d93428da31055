package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/progress"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migration"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// maxRuns bounds the restarts of a migration. It restarts when the definition changes meanwhile.
const maxRuns = 5

type migrateOptions struct {
	clusterFlags
	storage string
	dryRun  bool
	// The following fields are for a dry run without a storage version.
	sources
	output string
}

func newMigrateCommand(streams Streams, version string) *cobra.Command {
	options := migrateOptions{}
	command := &cobra.Command{
		Use:   "migrate (--dry-run | --storage VERSION)",
		Short: "Tell what taking over a cluster's stacks changes; store them in another version",
		Long: `With --dry-run alone: list the stacks of a cluster, or of the files of
--filename, with the version that each was made as, which of its objects this
operator has adopted and which are still another's, what differs when its pods
are replaced next, and what needs a hand: fields that no version has, stacks that
are refused as they are, objects that belong to somebody else, images whose
release is not known. It works before this operator is installed, too. It reads
stacks, the ConfigMaps that they refer to and the objects of each, writes nothing,
and says what you may not read. The exit code is 1 when a stack is refused.

With --storage: make VERSION the one in which the cluster stores stacks, write every stored
stack anew in it, and take the other version out of the definition's list of
stored versions. Nothing in a stack changes but the form it is stored in, and
running servers are not touched.

The operator does that by itself after an upgrade. This command is for the way
back: the API server refuses the definition of the operator before as long as
stacks are stored in v1alpha2. In this order:

  1. kubectl llamastack migrate --storage v1alpha1
     The operator has to run: its webhook converts. It follows the definition,
     and does not turn it back.
  2. Delete this operator's Deployment, admission policy and validating webhook.
  3. kubectl replace -f the definition of the operator before, and install it.

Between the first and the last step apply none of this operator's manifests:
they make v1alpha2 the stored version again, and the operator migrates to it.

It may be interrupted and repeated at any time. It takes the rights to get and
patch the definition and to patch its status, and to list and patch all stacks.
The exit code is 1 when a stack could not be written, or the cluster did not
answer: the list of stored versions then stays as it was.`,
		Example: `  # before and after the operator is replaced: what becomes of the stacks
  kubectl llamastack migrate --dry-run

  # of manifests, without a cluster
  kubectl llamastack migrate --dry-run -f deploy/

  # what would be written, and whether admission lets it pass
  kubectl llamastack migrate --storage v1alpha1 --dry-run

  kubectl llamastack migrate --storage v1alpha1`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if options.storage == "" && options.dryRun {
				return runSurvey(ctx, command.InOrStdin(), streams, version, options)
			}
			return runMigrate(ctx, streams, version, options)
		},
	}
	options.add(command)
	command.Flags().StringVar(&options.storage, "storage", "", "version to store stacks in: "+strings.Join(versions, " or "))
	command.Flags().BoolVar(&options.dryRun, "dry-run", false, "change nothing: tell what becomes of the stacks, or with --storage list those to be written, and those that cannot be")
	flags := command.Flags()
	flags.StringArrayVarP(&options.files, "filename", "f", nil, "with --dry-run: file or folder with manifests in place of a cluster, - for standard input; may be repeated")
	flags.StringVarP(&options.namespace, "namespace", "n", "", "with --dry-run: the only namespace to look at, or the one of objects of files that name none")
	flags.StringVar(&options.operatorConfig, "operator-config", "", "with --dry-run: file with the operator's ConfigMap, "+names.OperatorConfigMap+"; unset: the cluster's")
	flags.StringVarP(&options.output, "output", "o", formTable, "with --dry-run: table, json or yaml")
	command.MarkFlagsMutuallyExclusive("storage", "filename")
	command.MarkFlagsMutuallyExclusive("storage", "namespace")
	command.MarkFlagsMutuallyExclusive("storage", "operator-config")
	command.MarkFlagsMutuallyExclusive("storage", "output")
	must(command.RegisterFlagCompletionFunc("storage", cobra.FixedCompletions(versions, cobra.ShellCompDirectiveNoFileComp)))
	return command
}

// versions lists the versions of the API.
var versions = []string{v1alpha1.GroupVersion.Version, v1alpha2.GroupVersion.Version}

func runMigrate(ctx context.Context, streams Streams, version string, options migrateOptions) error {
	if options.storage == "" {
		return errors.New(`required flag(s) "storage" not set; or take --dry-run, which tells what becomes of the stacks`)
	}
	if !slices.Contains(versions, options.storage) {
		return fmt.Errorf("--storage %q: there is no such version; take %s", options.storage, strings.Join(versions, " or "))
	}
	c, err := options.client(version)
	if err != nil {
		return err
	}
	p := newPrinter(streams)
	line := streams.progress()
	defer line.Clear()
	m := migration.New(c, names.CustomResourceDefinition, migration.Options{Observe: observe(line, p)})
	if options.dryRun {
		return tryMigration(ctx, streams, p, m, options.storage)
	}
	return migrate(ctx, p, m, options.storage)
}

// observe returns a function that shows the progress on a terminal, and prints the last one everywhere.
func observe(line *progress.Line, p printer) func(migration.Progress) {
	return migration.Sparsely(func(now migration.Progress) {
		if now.Pending() > 0 {
			line.Show("%d of %d stacks", now.Migrated+now.Failed, now.Objects)
			return
		}
		line.Clear()
		p.line("%d of %d stacks", now.Migrated+now.Failed, now.Objects)
	})
}

// runSurvey prints what happens to the stacks of a cluster or of files.
func runSurvey(ctx context.Context, stdin io.Reader, streams Streams, version string, options migrateOptions) error {
	if err := checkForm(options.output); err != nil {
		return err
	}
	p := newPrinter(streams)
	found, err := options.inventory(ctx, stdin, p, version)
	if err != nil {
		return err
	}
	for _, text := range found.Unseen {
		p.warning("not seen: " + text)
	}
	var page bytes.Buffer
	err = found.write(&page, options.output)
	if _, failed := page.WriteTo(streams.Out); failed != nil {
		return failed
	}
	return err
}

func (o *migrateOptions) inventory(ctx context.Context, stdin io.Reader, p printer, version string) (inventory, error) {
	if len(o.files) > 0 {
		o.namespace = cmp.Or(o.namespace, defaultNamespace)
		found, err := o.read(stdin, p)
		if err != nil {
			return inventory{}, err
		}
		return found.takeovers(), nil
	}
	c, err := o.client(version)
	if err != nil {
		return inventory{}, err
	}
	v := surveyor{client: c, found: inventory{Stacks: []takeover{}}}
	if o.operatorConfig != "" {
		v.config, err = readOperatorConfig(o.operatorConfig, stdin, p)
	} else {
		err = v.readConfig(ctx, p)
	}
	if err == nil {
		err = v.survey(ctx, o.namespace)
	}
	if _, said := errors.AsType[*rejection](err); err != nil && !said {
		err = &rejection{problems: []string{err.Error()}, summary: "nothing is known of the cluster"}
	}
	return v.found, err
}

// tryMigration lists on standard output the stacks that would be written.
func tryMigration(ctx context.Context, streams Streams, p printer, m *migration.Migrator, storage string) error {
	stacks, result, err := m.Try(ctx, storage)
	if err != nil {
		return interrupted(err)
	}
	for _, stack := range stacks {
		fmt.Fprintln(streams.Out, stack)
	}
	p.note(fmt.Sprintf("%d stacks would be stored in %s where they are not yet; nothing was changed", len(stacks), storage))
	return unmigrated(result)
}

// migrate changes the storage version, and stores every stack in it.
func migrate(ctx context.Context, p printer, m *migration.Migrator, storage string) error {
	changed, err := m.SetStorageVersion(ctx, storage)
	if err != nil {
		return interrupted(err)
	}
	if changed {
		p.line("the storage version is %s now", storage)
	}
	result, err := m.Run(ctx)
	for range maxRuns {
		if !errors.Is(err, migration.ErrChanged) {
			break
		}
		p.note("the definition changed meanwhile; once more")
		result, err = m.Run(ctx)
	}
	if err != nil {
		return interrupted(err)
	}
	if result.Version != storage {
		return &rejection{summary: fmt.Sprintf("somebody made %s the storage version again meanwhile", result.Version)}
	}
	if err := unmigrated(result); err != nil {
		return err
	}
	p.ok(fmt.Sprintf("every stack is stored in %s, and the definition lists no other stored version", storage))
	return nil
}

// unmigrated returns an error with the stacks that could not be written, if any.
func unmigrated(result migration.Result) error {
	if result.Failed == 0 {
		return nil
	}
	return &rejection{
		problems: result.FailedObjects(),
		summary: fmt.Sprintf("%d of %d stacks cannot be written; the list of stored versions stays as it is until they are",
			result.Failed, result.Objects),
	}
}

// interrupted returns the error for a run that did not finish.
func interrupted(err error) error {
	return &rejection{problems: []string{err.Error()}, summary: "not done; what is written stays, and the same command goes on"}
}
