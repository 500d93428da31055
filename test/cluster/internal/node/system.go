package node

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
)

// kubectl runs kubectl as the cluster's administrator.
type kubectl struct{ program, kubeconfig string }

// run runs kubectl with the given standard input.
func (k kubectl) run(ctx context.Context, input []byte, args ...string) error {
	_, err := k.output(ctx, input, args...)
	return err
}

// output runs kubectl with the given standard input, and returns its output.
func (k kubectl) output(ctx context.Context, input []byte, args ...string) (string, error) {
	command := exec.CommandContext(ctx, k.program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig)
	command.Stdin = bytes.NewReader(input)
	out, err := command.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return "", fmt.Errorf("waiting for kubectl %s: %w", strings.Join(args, " "), context.Cause(ctx))
	}
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", args[0], err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// conditions is the JSONPath expression for the conditions of a node that are true, with their messages.
const conditions = `jsonpath={range .status.conditions[?(@.status=="True")]}{.type}: {.message}{"\n"}{end}`

// reportPressure calls the function progress once if the node lacks disk space, memory or processes, because pods then
// do not start. It returns when ctx is done.
func (k kubectl) reportPressure(ctx context.Context, progress func(string)) {
	for ctx.Err() == nil {
		out, err := k.output(ctx, nil, "get", "node/"+network.NodeName, "--output", conditions)
		for line := range strings.Lines(out) {
			if kind, _, _ := strings.Cut(line, ":"); err == nil && strings.HasSuffix(kind, "Pressure") {
				progress("no pod starts on node " + network.NodeName + ", which has " + strings.TrimSpace(line))
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
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
	var one sync.Mutex
	say := func(what string) {
		one.Lock()
		defer one.Unlock()
		progress(what)
	}
	settling, settled := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { k.reportPressure(settling, say) })
	defer watch.Wait()
	defer settled()
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
			say(step.what)
		}
	}
	return nil
}
