package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/repository"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

const (
	// downGrace is the time after which `down` kills a supervisor that has not ended. A supervisor kills its components
	// immediately, and needs only a fraction of a second.
	downGrace = 10 * time.Second
	// downTimeout is the time limit for the whole command, in case the kernel cannot end a process.
	downTimeout = 30 * time.Second
)

func runDown(ctx context.Context, env environment, args []string) error {
	flags := newFlags(env, "down", "", "Stops every process of the control plane and removes its state folder. Does nothing if there is no\ncontrol plane. Also ends the remaining processes of a killed control plane, and removes its files.")
	dir := dirFlag(flags, defaultDir)
	if err := parse(flags, args); err != nil {
		return err
	}
	root, err := repository.Find(env.folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	was, err := state.Down(ctx, root.Path(*dir), downGrace)
	if err != nil {
		return err
	}
	if was {
		fmt.Fprintf(env.stderr, "Down; removed %s\n", root.Path(*dir))
	} else {
		fmt.Fprintf(env.stderr, "Nothing to stop in %s\n", root.Path(*dir))
	}
	return nil
}
