package cli

import (
	"context"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/controlplane"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// attached runs a control plane in this process until ctx is done, and removes everything at the end. It calls the
// function `ready` when the control plane is ready. If the control plane fails, its directory remains, with the logs,
// until the next `up` or `down`.
func attached(ctx context.Context, env environment, s start, ready func() error) error {
	folder, err := state.Create(ctx, s.dir, s.record())
	if err != nil {
		return err
	}
	return govern(ctx, folder, s, controlplane.Events{
		Progress: func(line string) { fmt.Fprintln(env.stderr, line) },
		Ready:    ready,
	})
}

// govern makes this process the folder's supervisor and runs the control plane.
func govern(ctx context.Context, folder *state.Folder, s start, events controlplane.Events) error {
	self, err := process.Self()
	if err == nil {
		err = folder.Update(func(record *state.Record) { record.Supervisor = self })
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if s.until != (process.Identity{}) {
		go func() {
			_ = s.until.Wait(ctx) // the control plane also stops after an error
			stop()
		}()
	}
	if err == nil {
		err = controlplane.Run(ctx, folder, s.options, s.startup, events)
	}
	if err != nil {
		folder.Release()
		return fmt.Errorf("%w\nlogs: %s", err, folder.Path("log"))
	}
	return folder.Remove(ctx)
}
