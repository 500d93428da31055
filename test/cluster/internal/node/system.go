package node

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
)

// kubectl runs kubectl as the cluster's administrator.
type kubectl struct{ program, kubeconfig string }

// run runs kubectl with the given standard input.
func (k kubectl) run(ctx context.Context, input []byte, args ...string) error {
	command := exec.CommandContext(ctx, k.program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig)
	command.Stdin = bytes.NewReader(input)
	out, err := command.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("waiting for kubectl %s: %w", strings.Join(args, " "), context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}

// Settle creates the cluster's own objects, and waits until the node accepts pods and the cluster's own pods are ready.
// It calls the function progress after each step.
func (n *Node) Settle(ctx context.Context, kubectlProgram, kubeconfig string, progress func(string)) error {
	k := kubectl{program: kubectlProgram, kubeconfig: kubeconfig}
	manifests, err := newSettings(n.folder, n.plan).manifests()
	if err != nil {
		return err
	}
	if err := k.run(ctx, manifests, "apply", "--server-side", "--filename", "-"); err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		args []string
	}{
		{"", []string{"wait", "--for=create", "node/" + network.NodeName, "--timeout=1h"}},
		{"node " + network.NodeName + " is Ready", []string{
			"wait", "--for=condition=Ready", "node/" + network.NodeName,
			"--timeout=1h",
		}},
		{"cluster DNS " + n.plan.DNS().String(), []string{
			"rollout", "status", "--namespace=kube-system",
			"deployment/coredns", "--timeout=1h",
		}},
		{"metrics-server", []string{
			"wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io",
			"--timeout=1h",
		}},
	} {
		if err := k.run(ctx, nil, step.args...); err != nil {
			return err
		}
		if step.what != "" {
			progress(step.what)
		}
	}
	return nil
}
