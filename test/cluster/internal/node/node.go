package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/cgroup"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/nodeinit"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/registry"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// images lists the programs that pods run. Each program has its own image.
var images = []string{"pause", "coredns", "metrics-server", "prober"}

// Node is the node of one cluster while the node starts and runs.
type Node struct {
	folder   *state.Folder
	plan     network.Plan
	programs []string
	registry *registry.Registry
	orders   *json.Encoder
	hold     io.Closer
}

// Open connects the machine with the namespaces of process pid, and starts the registry at the machine's end of the
// link. The parameter orders is the standard input of the process, and receives messages for the process. The parameter
// programs lists the directories with the node's programs.
func Open(ctx context.Context, folder *state.Folder, pid int, orders io.WriteCloser, programs []string) (*Node, error) {
	plan, err := Link(ctx, pid)
	if err != nil {
		return nil, err
	}
	served, err := registry.Serve(ctx, plan.Registry(), filepath.Join(nodeFolder(folder), "registry"))
	if err != nil {
		return nil, err
	}
	return &Node{
		folder: folder, plan: plan, programs: programs, registry: served, orders: json.NewEncoder(orders),
		hold: orders,
	}, nil
}

// Network returns the addresses of the node's cluster.
func (n *Node) Network() network.Plan { return n.plan }

// Close stops the registry, and closes the input of the node's first process. That process then ends, and the node ends
// with it.
func (n *Node) Close() error { return errors.Join(n.registry.Close(), n.hold.Close()) }

// Prepare sets up the node, starts containerd, which needs no API server, and pushes the cluster's images to the
// registry. The keys in the state directory must exist.
func (n *Node) Prepare(ctx context.Context) error {
	if err := cgroup.Of(n.folder.Path()).Make(); err != nil {
		return err
	}
	s := newSettings(n.folder, n.plan)
	if err := s.write(); err != nil {
		return err
	}
	if err := n.orders.Encode(nodeinit.Setup{
		Folder: n.folder.Path(), State: s.Folder, Programs: n.programs,
		Network: n.plan,
	}); err != nil {
		return fmt.Errorf("setting up the node: %w", err)
	}
	if err := n.run("containerd", "", "--config", filepath.Join(s.Folder, "containerd.toml")); err != nil {
		return err
	}
	return n.push(ctx)
}

// push pushes the image of each program that images lists.
func (n *Node) push(ctx context.Context) error {
	for _, name := range images {
		program, err := n.find(name)
		if err != nil {
			return err
		}
		if err := registry.PushProgram(ctx, n.plan.Registry()+"/"+name+":1", program); err != nil {
			return err
		}
	}
	return nil
}

// find returns the path of one of the node's programs.
func (n *Node) find(name string) (string, error) {
	for _, folder := range n.programs {
		file := filepath.Join(folder, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("no program %q in %q", name, n.programs)
}

// Join starts the programs that add the node to the cluster. The API server must be ready. admin is the administrator's
// kubeconfig.
func (n *Node) Join(admin string) error {
	s := newSettings(n.folder, n.plan)
	if err := n.run("networkpolicy", "", "--kubeconfig", admin); err != nil {
		return err
	}
	volumes := filepath.Join(s.Folder, "volumes")
	if err := os.MkdirAll(volumes, 0o755); err != nil { //nolint:gosec // pods of any user must be able to access it
		return fmt.Errorf("making the folder for volumes: %w", err)
	}
	if err := n.run("provisioner", "", "--kubeconfig", admin, "--node", s.Name, "--folder", volumes); err != nil {
		return err
	}
	if err := n.run("kube-proxy", "", "--config", filepath.Join(s.Folder, "kube-proxy.yaml")); err != nil {
		return err
	}
	return n.run("kubelet", socket,
		"--config", filepath.Join(s.Folder, "kubelet.yaml"),
		"--kubeconfig", filepath.Join(s.PKI, "kubelet.kubeconfig"),
		"--cert-dir", s.PKI,
		"--root-dir", "/var/lib/kubelet",
		"--hostname-override", s.Name,
		"--node-ip", s.Address)
}

// run sends a message to the node's first process to start a program.
func (n *Node) run(name, needs string, args ...string) error {
	command := nodeinit.Command{Name: name, Args: args, Log: n.folder.Path("log", name+".log"), Needs: needs}
	if err := n.orders.Encode(command); err != nil {
		return fmt.Errorf("starting %s on the node: %w", name, err)
	}
	return nil
}
