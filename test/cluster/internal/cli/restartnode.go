package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/controlplane"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

const (
	restartNode = "restart-node"
	// dirVariable is the environment variable that contains the state directory of a cluster with a node. `run` sets the
	// variable for its command.
	dirVariable = "CLUSTER_DIR"
)

func runRestartNode(_ context.Context, env environment, args []string) error {
	flags := newFlags(env, restartNode, "", "Kills all processes on the node, including containers, as a power failure would. Then the node's programs and its\npods start again. The command does not remove files on the node's disk. If $"+dirVariable+" is set, its value is the\ndefault state folder.")
	dir := dirFlag(flags, cmp.Or(env.getenv(dirVariable), defaultDir))
	if err := parse(flags, args); err != nil {
		return err
	}
	path, record, err := readRecord(env, *dir)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(record.Components, func(c state.Component) bool { return c.Name == controlplane.NodeProcess })
	if i < 0 {
		return fmt.Errorf("the cluster in %q has no node; start a cluster with `cluster up --node`", path)
	}
	if err := record.Components[i].Process.KillBelow(); err != nil {
		return fmt.Errorf("restarting the node: %w", err)
	}
	return nil
}
