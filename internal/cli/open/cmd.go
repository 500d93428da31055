package open

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/forward"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/target"
)

// lookInterval is the time between two requests that list the pods of a stack whose port is forwarded.
const lookInterval = 2 * time.Second

type openOptions struct {
	kube.Flags
	port      uint16
	printOnly bool
}

const openHelp = `Forward a local port to a ready pod of a stack, and print the URL on standard
output. If the pod ends, the command forwards the port to another pod. Press Ctrl-C
to end the command. Only programs on this machine can use the port. Without a name,
the command uses the only stack in the namespace.

With --print-only, print the URL from the status of the stack, and do not forward a
port. If the stack is exposed, this URL is for clients outside the cluster. Otherwise,
the URL is for clients inside the cluster.

You need permission to get the stack and, without --print-only, to get its Deployment,
to list ReplicaSets and pods, and to create pods/portforward. The exit code is 1 if no
pod is ready when the command starts, or if the port is in use.`

// Command returns the command open.
func Command(streams app.Streams, version string) *cobra.Command {
	options := openOptions{}
	command := &cobra.Command{
		Use:   "open [NAME]",
		Short: "Forward a local port to a stack's server, and print the URL",
		Long:  openHelp,
		Example: `  kubectl llamastack open my-stack
  kubectl llamastack open my-stack --port 8321
  curl "$(kubectl llamastack open my-stack --print-only)/v1/models"`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := app.Interruptible(command)
			defer stop()
			return runOpen(ctx, streams, version, args, &options)
		},
	}
	options.AddNamespace(command)
	command.Flags().Uint16Var(&options.port, "port", 0, "local port (default: any free port)")
	command.Flags().BoolVar(&options.printOnly, "print-only", false,
		"print the URL from the status of the stack, and do not forward a port")
	command.MarkFlagsMutuallyExclusive("port", "print-only")
	return command
}

func runOpen(ctx context.Context, streams app.Streams, version string, args []string, options *openOptions) error {
	t, err := target.Connect(ctx, &options.Flags, version, args)
	if err != nil {
		return err
	}
	if options.printOnly {
		return printURL(streams, t)
	}
	p := app.NewPrinter(streams)
	printed := false
	follower := forward.Follower{
		Pods: t.Pods, Open: t.Open, Interval: lookInterval,
		Connected: func(pod string, port uint16) {
			p.Note(fmt.Sprintf("port %d is forwarded to pod %s; press Ctrl-C to end the command", port, pod))
			if !printed {
				fmt.Fprintln(streams.Out, t.URL(port))
				printed = true
			}
		},
		Waiting: func(reason error) { p.Warning(reason.Error() + "; the command continues when a pod is ready") },
	}
	if err := follower.Run(ctx, options.port); err != nil {
		return app.Rejected(t.Explain(err))
	}
	return nil
}

// printURL prints the URL in the status of the stack.
func printURL(streams app.Streams, t *target.Target) error {
	url := cmp.Or(t.Stack.Status.RouteURL, t.Stack.Status.ServiceURL)
	if url == "" {
		return app.Rejected(fmt.Errorf("the status of stack %q in namespace %q has no URL yet; wait until the stack is Ready",
			t.Stack.Name, t.Stack.Namespace))
	}
	fmt.Fprintln(streams.Out, url)
	return nil
}
