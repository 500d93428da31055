package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/controlplane"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// supervise is the command that `up` runs in a second process of this program.
const supervise = "supervise"

// These are the indexes of the open files that a supervisor inherits, counted from firstFile.
const (
	folderLock = iota
	reportPipe
	leashPipe

	firstFile = 3
)

// runSupervise runs a control plane that `up` detached. It ends on SIGTERM, and when a component or the process in
// --until ends. Before the control plane is ready, it also ends when the launcher ends.
func runSupervise(ctx context.Context, _ environment, args []string) error {
	if len(args) != 1 {
		return errors.New("only `cluster up` can start this command; run `cluster up`")
	}
	var o order
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return fmt.Errorf("decoding the launcher's order: %w", err)
	}
	lock, reports, leash := inherited(folderLock), inherited(reportPipe), inherited(leashPipe)
	folder, err := state.Inherit(o.Dir, lock)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	held := make(chan struct{})
	go guard(leash, held, stop)

	tell := json.NewEncoder(reports)
	s := start{dir: o.Dir, options: o.Options, startup: time.Duration(o.Startup), until: o.Until}
	err = govern(ctx, folder, s, controlplane.Events{
		// If the launcher has ended, Encode fails, and guard ends this process.
		Progress: func(line string) { _ = tell.Encode(message{Progress: line}) },
		Ready: func() error {
			close(held)
			return errors.Join(tell.Encode(message{Ready: true}), reports.Close())
		},
	})
	if err != nil {
		_ = tell.Encode(message{Failure: err.Error()}) // the log also contains the error
	}
	return err
}

// inherited opens a file that this process inherits from the launcher. The components do not inherit the file, because
// a component with the lock file would hold the lock after this process ends.
func inherited(index int) *os.File {
	syscall.CloseOnExec(firstFile + index)
	return os.NewFile(uintptr(firstFile+index), fmt.Sprintf("inherited-%d", index))
}

// guard calls stop when the other end of the leash is closed, unless the control plane was already ready.
func guard(leash *os.File, ready <-chan struct{}, stop context.CancelFunc) {
	_, _ = io.Copy(io.Discard, leash) // returns when the launcher has ended
	_ = leash.Close()
	select {
	case <-ready:
	default:
		stop()
	}
}
