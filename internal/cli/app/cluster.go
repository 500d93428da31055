package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// clusterRun does the work of a command on a cluster, and writes the result to the buffer `page`.
type clusterRun func(ctx context.Context, cluster *kube.Cluster, page *bytes.Buffer) error

// OnCluster connects to the cluster, runs the work until it ends or the user interrupts it, and writes the result to
// standard output. It returns an error from the work as a rejection.
func OnCluster(command *cobra.Command, streams Streams, flags *kube.Flags, version string, run clusterRun) error {
	cluster, err := flags.Connect(version)
	if err != nil {
		return err
	}
	ctx, stop := Interruptible(command)
	defer stop()
	var page bytes.Buffer
	if err := run(ctx, cluster, &page); err != nil {
		return Rejected(err)
	}
	_, err = page.WriteTo(streams.Out)
	return err
}

// Interruptible returns a context that ends when the user interrupts the command.
func Interruptible(command *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
}

// AddOperatorNamespace adds the flag for the namespace of the operator.
func AddOperatorNamespace(command *cobra.Command, namespace *string) {
	command.Flags().StringVar(namespace, "operator-namespace", "",
		"namespace of the operator (default: the namespace of its webhook or its Deployment, or "+names.OperatorNamespace+")")
}

// CheckSince returns an error for an invalid value of --since.
func CheckSince(since time.Duration) error {
	if since < 0 {
		return fmt.Errorf("--since %q: must not be negative; use a duration like 10m", since)
	}
	return nil
}
