package cli

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
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/inspect"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/podlogs"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

type logsOptions struct {
	kube.Flags
	podlogs.Options
	follow bool
	tail   int64
	since  time.Duration
}

func newLogsCommand(streams Streams, version string) *cobra.Command {
	options := logsOptions{}
	command := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the logs of a stack's pods",
		Long: `Print the logs of one pod of a stack: the newest pod that is not ready, otherwise the
newest pod. The pods in which a change is tried count, too. The container is the
server's, or the init container that keeps the server from starting.

With --all-pods each line begins with the name of its pod; a line of more than
64 KiB is divided.`,
		Example: `  # why the server ended
  kubectl llamastack logs my-stack --previous

  # all pods, from now on
  kubectl llamastack logs my-stack --all-pods -f --tail 0

  # an init container
  kubectl llamastack logs my-stack -c reconcile-registry`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := options.check(); err != nil {
				return err
			}
			cluster, err := options.Connect(version)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(command)
			defer stop()
			if err := options.run(ctx, cluster, args[0], streams); err != nil && ctx.Err() == nil {
				return clusterProblem(err)
			}
			return nil
		},
	}
	options.AddConnection(command)
	options.AddNamespace(command)
	flags := command.Flags()
	flags.BoolVarP(
		&options.follow,
		"follow",
		"f",
		false,
		"print new lines until the container ends or you press Ctrl-C",
	)
	flags.BoolVar(
		&options.Previous,
		"previous",
		false,
		"print the logs of the container that ran before the last restart",
	)
	flags.StringVarP(
		&options.Container,
		"container",
		"c",
		"",
		"container or init container; unset: the server's, or the init container that keeps it from starting",
	)
	flags.Int64Var(&options.tail, "tail", -1, "number of lines at the end of the logs; -1: all")
	flags.DurationVar(&options.since, "since", 0, "print only lines that are newer, for example 10m; unset: all")
	flags.BoolVar(&options.All, "all-pods", false, "print the logs of every pod, each line with the name of its pod")
	command.MarkFlagsMutuallyExclusive("follow", "previous")
	return command
}

func (o *logsOptions) check() error {
	switch {
	case o.tail < -1:
		return fmt.Errorf("--tail \"%d\": must not be negative; use a number of lines, or -1 for all", o.tail)
	case o.since < 0:
		return fmt.Errorf("--since %q: must not be negative; use a duration like 10m", o.since)
	default:
		return nil
	}
}

func (o *logsOptions) run(ctx context.Context, cluster *kube.Cluster, name string, streams Streams) error {
	stack, err := cluster.Stack(ctx, name)
	if err != nil {
		return err
	}
	o.Server = names.ServerContainer(stack.Annotations)
	var pods corev1.PodList
	err = cluster.List(
		ctx,
		&pods,
		client.InNamespace(cluster.Namespace),
		client.MatchingLabelsSelector{Selector: inspect.PodSelector(name)},
	)
	if err != nil {
		return kube.Explain(err, "list", corev1.Resource("pods"), cluster.Namespace)
	}
	targets, err := podlogs.Choose(pods.Items, o.Options)
	if err != nil {
		if len(pods.Items) == 0 {
			err = fmt.Errorf("%w %s -n %s%s", err, name, cluster.Namespace, cluster.Selection())
		}
		return err
	}
	if len(targets) == 1 && !o.All {
		newPrinter(
			streams,
		).note(fmt.Sprintf("container %q of pod %q (%s)", targets[0].Container, targets[0].Pod, ofPods(len(pods.Items))))
	}
	set, err := cluster.Clientset()
	if err != nil {
		return err
	}
	return o.print(ctx, set, cluster.Namespace, targets, podlogs.NewMerger(streams.Out))
}

// ofPods returns how many pods a stack has.
func ofPods(number int) string {
	if number == 1 {
		return "the only pod"
	}
	return fmt.Sprintf("one of %d pods; --all-pods prints all", number)
}

// print prints the logs one after the other, or at the same time with --follow. A pod without logs does not keep the
// others from being printed.
func (o *logsOptions) print(
	ctx context.Context,
	set kubernetes.Interface,
	namespace string,
	targets []podlogs.Target,
	merger *podlogs.Merger,
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
		one := func() { failures[i] = o.stream(ctx, set, namespace, target, prefix, merger) }
		if o.follow {
			group.Go(one)
		} else {
			one()
		}
	}
	group.Wait()
	return errors.Join(failures...)
}

func (o *logsOptions) stream(
	ctx context.Context,
	set kubernetes.Interface,
	namespace string,
	target podlogs.Target,
	prefix string,
	merger *podlogs.Merger,
) error {
	options := &corev1.PodLogOptions{Container: target.Container, Follow: o.follow, Previous: o.Previous}
	if o.tail >= 0 {
		options.TailLines = &o.tail
	}
	if o.since > 0 {
		seconds := max(1, int64(o.since.Seconds()))
		options.SinceSeconds = &seconds
	}
	stream, err := set.CoreV1().Pods(namespace).GetLogs(target.Pod, options).Stream(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("pod %q no longer exists; run the command again", target.Pod)
	case apierrors.IsBadRequest(err):
		return fmt.Errorf(
			"container %q of pod %q has no such logs; use -c for another container, or look at the pod with "+
				"kubectl describe pod %s -n %s: %w",
			target.Container,
			target.Pod,
			target.Pod,
			namespace,
			err,
		)
	case err != nil:
		return kube.Explain(err, "get", schema.GroupResource{Resource: "pods/log"}, namespace)
	}
	err = merger.Copy(stream, prefix)
	if err = cmp.Or(err, stream.Close()); err != nil {
		return fmt.Errorf("read the logs of pod %q: %w", target.Pod, err)
	}
	return nil
}
