package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
)

// clusterRun does the work of a command on a cluster, and writes the result to the buffer `page`.
type clusterRun func(ctx context.Context, cluster *kube.Cluster, page *bytes.Buffer) error

// onCluster connects to the cluster, runs the work until it ends or the user interrupts it, and writes the result to
// standard output. It returns an error from the work as a rejection.
func onCluster(command *cobra.Command, streams Streams, flags *kube.Flags, version string, run clusterRun) error {
	cluster, err := flags.Connect(version)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(command)
	defer stop()
	var page bytes.Buffer
	if err := run(ctx, cluster, &page); err != nil {
		return clusterProblem(err)
	}
	_, err = page.WriteTo(streams.Out)
	return err
}

// interruptible returns a context that ends when the user interrupts the command.
func interruptible(command *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
}

// clusterProblem returns an error from a request to the cluster as a rejection, which results in exit code 1.
func clusterProblem(err error) error {
	if rejected, is := errors.AsType[*rejection](err); is {
		return rejected
	}
	return &rejection{problems: []string{err.Error()}}
}
