// Command provisioner creates a directory on the node for each PersistentVolumeClaim, and removes the directory when
// the volume is released.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// name is the name of the provisioner in the StorageClass.
const name = "cluster.test/folder"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` for the API server")
	node := flag.String("node", "", "`name` of the node that has the folders")
	folder := flag.String("folder", "", "`folder` of the volumes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, folders{node: *node, root: *folder}); err != nil {
		fmt.Fprintln(os.Stderr, "provisioner:", err)
		os.Exit(1) //nolint:gocritic // the exit also frees everything that the deferred stop would free
	}
}

// run provisions volumes until ctx is done.
func run(ctx context.Context, kubeconfig string, volumes folders) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("reading %q: %w", kubeconfig, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	controller.NewProvisionController(ctx, client, name, volumes, controller.LeaderElection(false)).Run(ctx)
	return nil
}
