package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// clusterRun is the work of a command on a cluster. It writes its result to the page.
type clusterRun func(ctx context.Context, page *bytes.Buffer) error

// onCluster runs the work until it ends or the user interrupts it, and writes its result to standard output. An error
// is one about the cluster.
func onCluster(command *cobra.Command, streams Streams, run clusterRun) error {
	ctx, stop := interruptible(command)
	defer stop()
	var page bytes.Buffer
	if err := run(ctx, &page); err != nil {
		return clusterProblem(err)
	}
	_, err := page.WriteTo(streams.Out)
	return err
}

// interruptible returns a context that ends when the user interrupts the command.
func interruptible(command *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
}

// clusterProblem returns the error for a cluster that does not answer as the command needs it.
func clusterProblem(err error) error {
	if rejected, is := errors.AsType[*rejection](err); is {
		return rejected
	}
	return &rejection{problems: []string{err.Error()}}
}
