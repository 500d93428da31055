package status

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
)

type statusOptions struct {
	kube.Flags
	output  string
	verbose bool
	watch   bool
}

const (
	statusHelp = `Without a name, list the stacks. Stacks with problems come first. The command sends
one request for every 500 stacks, and no requests for individual stacks.

With a name, show a tree of the stack: its Deployment, ReplicaSets and pods, the
conditions that report a problem, the server with its providers and models, the
storage, the exposure and the autoscaler. The last lines describe the problem
and show the next command to run.

With a name and --all-namespaces, show the stack with that name in any namespace. If
several namespaces contain such a stack, list these stacks.

The exit code is 0 if the status can be shown, even if the stack is not ready. In
scripts, use kubectl wait --for=condition=Ready llsd/NAME.`

	statusExample = `  # list the stacks in all namespaces
  kubectl llamastack status -A

  # show one stack until you press Ctrl-C
  kubectl llamastack status my-stack --watch`
)

// Command returns the command status.
func Command(streams app.Streams, version string) *cobra.Command {
	options := statusOptions{}
	command := &cobra.Command{
		Use:     "status [NAME]",
		Short:   "Show the problem with a stack, and the next command to run",
		Long:    statusHelp,
		Example: statusExample,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := options.check(args); err != nil {
				return err
			}
			if options.watch {
				return options.watchStacks(command, streams, version, args)
			}
			return app.OnCluster(command, streams, &options.Flags, version,
				func(ctx context.Context, cluster *kube.Cluster, page *bytes.Buffer) error {
					write, err := options.look(ctx, cluster, args, streams.Width)
					if err != nil {
						return err
					}
					return write(time.Now(), page)
				})
		},
	}
	options.AddScope(command)
	flags := command.Flags()
	flags.StringVarP(&options.output, "output", "o", app.FormTable, "table, json or yaml")
	flags.BoolVar(&options.verbose, "verbose", false, "with a name: show every condition, provider and model")
	flags.BoolVarP(&options.watch, "watch", "w", false, "show the status again when it changes, until you press Ctrl-C")
	return command
}

// watchStacks shows the page repeatedly until the user interrupts the command.
func (o *statusOptions) watchStacks(command *cobra.Command, streams app.Streams, version string, args []string) error {
	cluster, err := o.Connect(version)
	if err != nil {
		return err
	}
	ctx, stop := app.Interruptible(command)
	defer stop()
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	return watchPages(ctx, streams, ticker.C, func(ctx context.Context) (pageAt, error) {
		return o.look(ctx, cluster, args, streams.Width)
	})
}

// watchInterval is the time between two pages of --watch.
const watchInterval = 2 * time.Second

func (o *statusOptions) check(args []string) error {
	switch {
	case len(args) > 0 && o.Selector != "":
		return fmt.Errorf("%q: a name cannot be used with --selector; remove the name, or remove --selector", args[0])
	case o.watch && o.output != app.FormTable:
		return fmt.Errorf("--watch cannot be used with --output %s; remove one of the flags", o.output)
	default:
		return app.CheckForm(o.output)
	}
}

// pageAt writes a page with the ages at a point in time.
type pageAt func(at time.Time, page *bytes.Buffer) error

// look reads the stacks that the arguments select, and returns a function that writes their page.
func (o *statusOptions) look(ctx context.Context, cluster *kube.Cluster, args []string, width int) (pageAt, error) {
	if len(args) == 0 {
		stacks, err := cluster.Stacks(ctx)
		return o.list(cluster, stacks, width), err
	}
	if !o.AllNamespaces {
		stack, err := cluster.Stack(ctx, args[0])
		if err != nil {
			return nil, err
		}
		return o.report(ctx, cluster, stack, width)
	}
	stacks, err := cluster.Named(ctx, args[0])
	switch {
	case err != nil:
		return nil, err
	case len(stacks) == 0:
		return nil, fmt.Errorf("there is no stack %q in any namespace; to list all stacks, run kubectl llamastack status -A",
			args[0])
	case len(stacks) == 1:
		return o.report(ctx, cluster, &stacks[0], width)
	default:
		return o.list(cluster, stacks, width), nil
	}
}

func (o *statusOptions) list(cluster *kube.Cluster, stacks []v1alpha2.LlamaStackDistribution, width int) pageAt {
	return func(at time.Time, page *bytes.Buffer) error {
		list := NewList(stacks, at)
		switch {
		case o.output != app.FormTable:
			return app.WriteData(page, o.output, list)
		case len(stacks) == 0:
			page.WriteString(layout.Paragraph(o.nothing(cluster.Namespace), width))
		default:
			page.WriteString(list.Table(width, at, o.AllNamespaces, cluster.Selection()))
		}
		return nil
	}
}

// nothing returns the text for an empty list.
func (o *statusOptions) nothing(namespace string) string {
	where := fmt.Sprintf("Namespace %q has", namespace)
	if o.AllNamespaces {
		where = "The cluster has"
	}
	if o.Selector != "" {
		return fmt.Sprintf("%s no stacks that match the selector %q.", where, o.Selector)
	}
	return where + " no stacks. To write a manifest, run: kubectl llamastack init"
}

func (o *statusOptions) report(
	ctx context.Context, cluster *kube.Cluster, stack *v1alpha2.LlamaStackDistribution, width int,
) (pageAt, error) {
	facts, err := Read(ctx, cluster, stack)
	if err != nil {
		return nil, err
	}
	return func(at time.Time, page *bytes.Buffer) error {
		facts.Now = at
		report := NewReport(facts)
		if o.output != app.FormTable {
			return app.WriteData(page, o.output, report)
		}
		page.WriteString(report.Text(width, o.verbose))
		return nil
	}, nil
}

// clearScreen moves the cursor of a terminal to the first line, and removes all text.
const clearScreen = "\x1b[H\x1b[2J"

// watchPages shows a page, and shows it again at each tick. On a terminal, it clears the screen before each page. On
// other outputs, it prints a page only if anything other than the ages has changed, with an empty line between two
// pages.
func watchPages(
	ctx context.Context, streams app.Streams, ticks <-chan time.Time, look func(context.Context) (pageAt, error),
) error {
	began := time.Now()
	var last []byte
	for first := true; ; first = false {
		var page, compared bytes.Buffer
		write, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the user ended the command
		case err != nil && first:
			return app.Rejected(err)
		case err != nil: // the next request may succeed
			write = func(_ time.Time, page *bytes.Buffer) error {
				_, failed := fmt.Fprintf(page, "error: %s\n", err)
				return failed
			}
		}
		if err := errors.Join(write(time.Now(), &page), write(began, &compared)); err != nil {
			return err
		}
		if first || streams.Width > 0 || !bytes.Equal(last, compared.Bytes()) {
			if err := writePage(streams, &page, first); err != nil {
				return err
			}
		}
		last = compared.Bytes()
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
	}
}

func writePage(streams app.Streams, page *bytes.Buffer, first bool) error {
	separator := ""
	switch {
	case streams.Width > 0:
		separator = clearScreen
	case !first:
		separator = "\n"
	}
	if _, err := io.WriteString(visible.Raw(streams.Out), separator); err != nil {
		return err
	}
	_, err := page.WriteTo(streams.Out)
	return err
}
