package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/node"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// NodeVerb is the command of this program that runs as the first process of a node's namespaces. NodeProcess is its
// name in records and logs.
const (
	NodeVerb    = "node-init"
	NodeProcess = "node"
)

// openNode creates the namespaces of the node and the link to them. It runs first, because the link determines all
// addresses.
func (r *runner) openNode(ctx context.Context) error {
	if len(r.options.Node) == 0 {
		return nil
	}
	if err := os.MkdirAll(r.folder.Path("node"), 0o700); err != nil {
		return fmt.Errorf("preparing the node's folder: %w", err)
	}
	input, orders, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	err = r.launch(ctx, component{
		program: NodeProcess, path: "/proc/self/exe", args: []string{NodeVerb}, environment: os.Environ(),
		input: input, namespaces: node.Namespaces,
	})
	if err := errors.Join(err, input.Close()); err != nil {
		return errors.Join(err, orders.Close())
	}
	components := r.folder.Record().Components
	pid := components[len(components)-1].Process.PID
	if r.node, err = node.Open(ctx, r.folder, pid, orders, r.options.Node); err != nil {
		return errors.Join(err, orders.Close())
	}
	r.site = besideNode(r.node.Network())
	return r.folder.Update(func(record *state.Record) { record.Registry = r.node.Network().Registry() })
}

// prepareNode prepares the parts of the node that do not need the API server.
func (r *runner) prepareNode(ctx context.Context) error {
	if r.node == nil {
		return nil
	}
	if err := r.node.Prepare(ctx); err != nil {
		return err
	}
	r.progress("registry " + r.node.Network().Registry())
	return nil
}

// joinNode adds the node to the cluster and waits until pods run on it.
func (r *runner) joinNode(ctx context.Context) error {
	if r.node == nil {
		return nil
	}
	admin := kubeconfigPath(r.folder, adminUser)
	if err := r.node.Join(admin); err != nil {
		return err
	}
	return r.node.Settle(ctx, filepath.Join(r.options.Programs, "kubectl"), admin, r.progress)
}

// closeNode stops the registry that this process runs for the node.
func (r *runner) closeNode() error {
	if r.node == nil {
		return nil
	}
	return r.node.Close()
}
