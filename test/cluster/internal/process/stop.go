package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Signal sends a signal to the identified process. If the process has ended, Signal does nothing and returns nil.
func (i Identity) Signal(signal syscall.Signal) error {
	// The handle refers to one process. It is opened before the start time is compared, so the signal cannot reach another
	// process if the ID is reused in between.
	handle, err := os.FindProcess(i.PID)
	if err != nil {
		return fmt.Errorf("finding process %d: %w", i.PID, err)
	}
	defer func() { _ = handle.Release() }() // a failed release of the handle has no effect
	if !i.Alive() {
		return nil
	}
	if err := handle.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %q to process %d: %w", signal, i.PID, err)
	}
	return nil
}

// Stop signals the process to end. If the process is still running after the grace period, Stop kills it and waits
// until it has ended. If grace is zero, Stop kills the process immediately.
func (i Identity) Stop(ctx context.Context, grace time.Duration) error {
	if grace > 0 {
		if err := i.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		patience, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		if i.Wait(patience) == nil {
			return nil
		}
	}
	if err := i.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	return i.Wait(ctx)
}

// Wait returns when the process has ended or ctx is done.
func (i Identity) Wait(ctx context.Context) error {
	const shortest, longest = time.Millisecond, 200 * time.Millisecond // most waits are short, but some last for days
	for pause := shortest; i.Alive(); pause = min(2*pause, longest) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for process %d to end: %w", i.PID, ctx.Err())
		case <-time.After(pause):
		}
	}
	return nil
}
