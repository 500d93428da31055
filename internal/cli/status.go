package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/inspect"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/view/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/view/stackstatus"
)

type statusOptions struct {
	kube.Flags
	output  string
	verbose bool
	watch   bool
}

func newStatusCommand(streams Streams, version string) *cobra.Command {
	options := statusOptions{}
	command := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show what is wrong with a stack, and the next command to run",
		Long: `Without a name: list the stacks; those that need attention come first. The list takes
one request for every 500 stacks, and none for individual stacks.

With a name: show a tree of the stack, its Deployment, ReplicaSets and pods, the
conditions that are not as they should be, the server with its providers and
models, storage, exposure and autoscaler. The last lines are one sentence about
the problem, and the next command to run.

With a name and --all-namespaces: show the stack of that name in any namespace,
and the list if several namespaces have one.

The exit code is 0 whenever the status is shown, even if the stack is not ready.
In scripts, use kubectl wait --for=condition=Ready llsd/NAME.`,
		Example: `  # the stacks of all namespaces
  kubectl llamastack status -A

  # one stack, until you press Ctrl-C
  kubectl llamastack status my-stack --watch`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := options.check(args); err != nil {
				return err
			}
			cluster, err := options.Connect(version)
			if err != nil {
				return clusterProblem(err)
			}
			look := func(ctx context.Context) (pageAt, error) { return options.look(ctx, cluster, args, streams.Width) }
			if !options.watch {
				return onCluster(command, streams, func(ctx context.Context, page *bytes.Buffer) error {
					write, err := look(ctx)
					if err != nil {
						return err
					}
					return write(time.Now(), page)
				})
			}
			ctx, stop := interruptible(command)
			defer stop()
			ticker := time.NewTicker(watchInterval)
			defer ticker.Stop()
			return watchPages(ctx, streams, ticker.C, look)
		},
	}
	options.AddConnection(command)
	options.AddScope(command)
	flags := command.Flags()
	flags.StringVarP(&options.output, "output", "o", formTable, "table, json or yaml")
	flags.BoolVar(&options.verbose, "verbose", false, "with a name: show every condition, provider and model")
	flags.BoolVarP(&options.watch, "watch", "w", false, "show the status again when it changes, until you press Ctrl-C")
	return command
}

// watchInterval is the time between two looks at the cluster.
const watchInterval = 2 * time.Second

func (o *statusOptions) check(args []string) error {
	switch {
	case len(args) > 0 && o.Selector != "":
		return errors.New("--selector selects stacks of a list; remove it, or remove the name")
	case o.watch && o.output != formTable:
		return fmt.Errorf("--watch prints for people; remove --output %s", o.output)
	default:
		return checkForm(o.output)
	}
}

// pageAt writes a page as of a time.
type pageAt func(at time.Time, page *bytes.Buffer) error

// look reads the stacks that the arguments select, and returns their page.
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
		return nil, fmt.Errorf(
			"there is no stack %q in any namespace; list all with kubectl llamastack status -A",
			args[0],
		)
	case len(stacks) == 1:
		return o.report(ctx, cluster, &stacks[0], width)
	default:
		return o.list(cluster, stacks, width), nil
	}
}

func (o *statusOptions) list(cluster *kube.Cluster, stacks []v1alpha2.LlamaStackDistribution, width int) pageAt {
	return func(at time.Time, page *bytes.Buffer) error {
		list := stackstatus.NewList(stacks, at)
		switch {
		case o.output != formTable:
			return writeData(page, o.output, list)
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
		return fmt.Sprintf("%s no stacks with the labels %q.", where, o.Selector)
	}
	return where + " no stacks. Write one with: kubectl llamastack init"
}

func (o *statusOptions) report(
	ctx context.Context,
	cluster *kube.Cluster,
	stack *v1alpha2.LlamaStackDistribution,
	width int,
) (pageAt, error) {
	facts, err := inspect.Read(ctx, cluster, stack)
	if err != nil {
		return nil, err
	}
	return func(at time.Time, page *bytes.Buffer) error {
		facts.Now = at
		report := stackstatus.NewReport(facts)
		if o.output != formTable {
			return writeData(page, o.output, report)
		}
		page.WriteString(report.Text(width, o.verbose))
		return nil
	}, nil
}

// clearScreen moves the cursor of a terminal to the top, and removes all text.
const clearScreen = "\x1b[H\x1b[2J"

// watchPages shows a page, and again at each tick. A terminal is cleared before each page. Other outputs get only pages
// that have changed in more than ages, with an empty line between two pages.
func watchPages(
	ctx context.Context,
	streams Streams,
	ticks <-chan time.Time,
	look func(context.Context) (pageAt, error),
) error {
	began := time.Now()
	var last []byte
	for first := true; ; first = false {
		var page, compared bytes.Buffer
		write, err := look(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the user ended the command
		}
		if err != nil && first {
			return clusterProblem(err)
		}
		if err != nil { // the cluster may answer the next time
			write = func(_ time.Time, page *bytes.Buffer) error {
				fmt.Fprintf(page, "error: %s\n", err)
				return nil
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

func writePage(streams Streams, page *bytes.Buffer, first bool) error {
	separator := ""
	switch {
	case streams.Width > 0:
		separator = clearScreen
	case !first:
		separator = "\n"
	}
	if _, err := io.WriteString(streams.Out, separator); err != nil {
		return err
	}
	_, err := page.WriteTo(streams.Out)
	return err
}
