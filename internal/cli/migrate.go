package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migration"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// maxRuns is how often a migration begins again because the definition changed meanwhile.
const maxRuns = 5

type migrateOptions struct {
	clusterFlags
	storage string
	dryRun  bool
}

func newMigrateCommand(streams Streams, version string) *cobra.Command {
	options := migrateOptions{}
	command := &cobra.Command{
		Use:   "migrate --storage VERSION",
		Short: "Store every stack of a cluster in another version, to go back to the operator before",
		Long: `Make VERSION the one in which the cluster stores stacks, write every stored
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
		Example: `  # what would be written, and whether admission lets it pass
  kubectl llamastack migrate --storage v1alpha1 --dry-run

  kubectl llamastack migrate --storage v1alpha1`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return runMigrate(ctx, streams, version, options)
		},
	}
	options.add(command)
	command.Flags().StringVar(&options.storage, "storage", "", "version to store stacks in: "+strings.Join(versions, " or "))
	command.Flags().BoolVar(&options.dryRun, "dry-run", false, "list the stacks, and those that could not be written, and change nothing")
	must(command.MarkFlagRequired("storage"))
	must(command.RegisterFlagCompletionFunc("storage", cobra.FixedCompletions(versions, cobra.ShellCompDirectiveNoFileComp)))
	return command
}

// versions are those of the API.
var versions = []string{v1alpha1.GroupVersion.Version, v1alpha2.GroupVersion.Version}

func runMigrate(ctx context.Context, streams Streams, version string, options migrateOptions) error {
	if !slices.Contains(versions, options.storage) {
		return fmt.Errorf("--storage %q: there is no such version; take %s", options.storage, strings.Join(versions, " or "))
	}
	c, err := options.client(version)
	if err != nil {
		return err
	}
	p := newPrinter(streams)
	m := migration.New(c, names.CustomResourceDefinition, migration.Options{Observe: migration.Sparsely(func(now migration.Progress) {
		p.line("%d of %d stacks", now.Migrated+now.Failed, now.Objects)
	})})
	if options.dryRun {
		return tryMigration(ctx, streams, p, m, options.storage)
	}
	return migrate(ctx, p, m, options.storage)
}

// tryMigration lists what would be written on standard output.
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

// migrate turns the storage version, and stores every stack in it.
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

// unmigrated says which stacks could not be written, if any.
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

// interrupted is a run that did not come to its end.
func interrupted(err error) error {
	return &rejection{problems: []string{err.Error()}, summary: "not done; what is written stays, and the same command goes on"}
}
