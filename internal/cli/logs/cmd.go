package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

type logsOptions struct {
	kube.Flags
	Options
	follow bool
	tail   int64
	since  time.Duration
}

const (
	logsHelp = `Print the logs of one pod of a stack: the newest pod that is not ready or, if there is
no such pod, the newest pod. The pods of a stack include the pods in which the operator
tests a change. The logs are from the server's container, or from the init container
that prevents the server from starting.

Without a name, the command uses the only stack in the namespace.
With --all-pods, each line begins with the name of its pod, and lines longer than
64 KiB are split.`

	logsExample = `  # print the server's logs from before its last restart
  kubectl llamastack logs my-stack --previous

  # print the new lines of all pods
  kubectl llamastack logs my-stack --all-pods -f --tail 0

  # print the logs of an init container
  kubectl llamastack logs my-stack -c reconcile-registry`
)

// Command returns the command logs.
func Command(streams app.Streams, version string) *cobra.Command {
	options := logsOptions{}
	command := &cobra.Command{
		Use:     "logs [NAME]",
		Short:   "Print the logs of a stack's pods",
		Long:    logsHelp,
		Example: logsExample,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := options.check(); err != nil {
				return err
			}
			cluster, err := options.Connect(version)
			if err != nil {
				return err
			}
			ctx, stop := app.Interruptible(command)
			defer stop()
			if err := options.run(ctx, cluster, args, streams); err != nil && ctx.Err() == nil {
				return app.Rejected(err)
			}
			return nil
		},
	}
	options.addFlags(command)
	return command
}

func (o *logsOptions) addFlags(command *cobra.Command) {
	o.AddNamespace(command)
	flags := command.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "print new log lines until the container stops or you press Ctrl-C")
	flags.BoolVar(&o.Previous, "previous", false, "print the logs of the container that ran before the last restart")
	flags.StringVarP(&o.Container, "container", "c", "",
		"container or init container (default: the server's container, or the init container that prevents it from starting)")
	flags.Int64Var(&o.tail, "tail", -1, "number of lines to print from the end of the logs; -1: all lines")
	flags.DurationVar(&o.since, "since", 0, "maximum age of the printed lines, for example 10m (default: all lines)")
	flags.BoolVar(&o.All, "all-pods", false, "print the logs of every pod, and begin each line with the name of the pod")
	command.MarkFlagsMutuallyExclusive("follow", "previous")
}

func (o *logsOptions) check() error {
	if o.tail < -1 {
		return fmt.Errorf("--tail \"%d\": must be at least -1; use a number of lines, or -1 for all lines", o.tail)
	}
	return app.CheckSince(o.since)
}

// run prints the logs of a stack.
func (o *logsOptions) run(ctx context.Context, cluster *kube.Cluster, args []string, streams app.Streams) error {
	name, err := cluster.Name(ctx, args)
	if err != nil {
		return err
	}
	stack, err := cluster.Stack(ctx, name)
	if err != nil {
		return err
	}
	o.Server = names.ServerContainer(stack.Annotations)
	pods, err := podsOf(ctx, cluster, name)
	if err != nil {
		return err
	}
	targets, err := Choose(pods, o.Options)
	if err != nil {
		if len(pods) == 0 {
			err = fmt.Errorf("%w %s -n %s%s", err, name, cluster.Namespace, cluster.Selection())
		}
		return err
	}
	if len(targets) == 1 && !o.All {
		one := &targets[0]
		app.NewPrinter(streams).Note(fmt.Sprintf("container %q in pod %q (%s)", one.Container, one.Pod, ofPods(len(pods))))
	}
	core, err := cluster.Core()
	if err != nil {
		return err
	}
	return o.print(ctx, core, cluster.Namespace, targets, NewMerger(streams.Out))
}

// podsOf lists the pods of a stack, including those in which the operator tests a change.
func podsOf(ctx context.Context, cluster *kube.Cluster, name string) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := cluster.List(ctx, &pods, client.InNamespace(cluster.Namespace),
		client.MatchingLabelsSelector{Selector: kube.PodSelector(name)})
	return pods.Items, err
}

// ofPods returns a phrase that contains the number of a stack's pods.
func ofPods(number int) string {
	if number == 1 {
		return "the only pod"
	}
	return fmt.Sprintf("one of %d pods; for all pods, set --all-pods", number)
}

// print prints the logs of the targets one after the other or, with --follow, concurrently. After an error for one
// target, it still prints the logs of the others.
func (o *logsOptions) print(
	ctx context.Context, core corev1client.CoreV1Interface, namespace string, targets []Target,
	merger *Merger,
) error {
	width := 0
	for _, target := range targets {
		width = max(width, len(target.Pod))
	}
	failures := make([]error, len(targets))
	var group sync.WaitGroup
	for i, target := range targets {
		prefix := ""
		if o.All {
			prefix = target.Pod + strings.Repeat(" ", width-len(target.Pod)) + " | "
		}
		one := func() { failures[i] = o.stream(ctx, core, namespace, target, prefix, merger) }
		if o.follow {
			group.Go(one)
		} else {
			one()
		}
	}
	group.Wait()
	return errors.Join(failures...)
}

// logOptions returns the options for a request for a container's logs.
func (o *logsOptions) logOptions(container string) *corev1.PodLogOptions {
	options := &corev1.PodLogOptions{Container: container, Follow: o.follow, Previous: o.Previous}
	if o.tail >= 0 {
		options.TailLines = &o.tail
	}
	if o.since > 0 {
		seconds := max(1, int64(o.since.Seconds()))
		options.SinceSeconds = &seconds
	}
	return options
}

// stream prints the logs of one container, each line with the prefix.
func (o *logsOptions) stream(
	ctx context.Context, core corev1client.CoreV1Interface, namespace string, target Target, prefix string,
	merger *Merger,
) error {
	stream, err := core.Pods(namespace).GetLogs(target.Pod, o.logOptions(target.Container)).Stream(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("pod %q no longer exists; run the command again", target.Pod)
	case apierrors.IsBadRequest(err):
		return fmt.Errorf("container %[1]q in pod %[2]q does not have these logs: %[4]w; set -c to another container, or "+
			"run \"kubectl describe pod %[2]s -n %[3]s\"", target.Container, target.Pod, namespace, err)
	case err != nil:
		return kube.Explain(err, "get", schema.GroupResource{Resource: "pods/log"}, namespace)
	}
	err = merger.Copy(stream, prefix)
	if err = cmp.Or(err, stream.Close()); err != nil {
		return fmt.Errorf("read the logs of pod %q: %w", target.Pod, err)
	}
	return nil
}
