package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// StopMarked stops every process that was started with the given entry ("NAME=value") in its environment. It stops them
// as Stop does, with a common grace period. Children inherit the entry, and keep it after their parents have ended.
func StopMarked(ctx context.Context, entry string, grace time.Duration) error {
	patience, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for range killPasses {
		found, err := marked(entry)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, process := range found {
			if err := process.Signal(syscall.SIGTERM); err != nil {
				return err
			}
		}
		for _, process := range found {
			if process.Wait(patience) == nil {
				continue
			}
			if err := process.Stop(ctx, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// marked returns the processes with the entry. It omits processes of other users, whose environment cannot be read.
func marked(entry string) ([]Identity, error) {
	pids, err := list()
	if err != nil {
		return nil, err
	}
	var found []Identity
	for _, pid := range pids {
		process, err := Identify(pid) // the identity is read before the environment, so that both belong to the same process
		if err != nil {
			continue // the process has ended
		}
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && slices.ContainsFunc(bytes.Split(environment, []byte{0}),
			func(e []byte) bool { return string(e) == entry }) {
			found = append(found, process)
		}
	}
	return found, nil
}
