package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Signal sends a signal to the process if it is still the identified one. It is not an error if the process has ended.
func (i Identity) Signal(signal syscall.Signal) error {
	// The handle pins the process before its start time is compared, so the ID cannot be reused between the comparison
	// and the signal.
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

// Stop signals the process to end, waits for grace, kills it, and waits until it is gone. A grace of zero kills at
// once.
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
	const shortest, longest = time.Millisecond, 200 * time.Millisecond // most waits are short, some last for days
	for pause := shortest; i.Alive(); pause = min(2*pause, longest) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for process %d to end: %w", i.PID, ctx.Err())
		case <-time.After(pause):
		}
	}
	return nil
}
