package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/controlplane"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// message is one line that the supervisor writes to its launcher.
type message struct {
	Progress string `json:"progress,omitempty"`
	Failure  string `json:"failure,omitempty"`
	Ready    bool   `json:"ready,omitempty"`
}

// order is the message from the launcher to the supervisor.
type order struct {
	Dir     string               `json:"dir"`
	Options controlplane.Options `json:"options"`
	Startup int64                `json:"startup"`
	Until   process.Identity     `json:"until,omitzero"`
}

// detach starts a supervisor in a new session and returns when the control plane is ready. The supervisor holds the
// directory's lock from the start. Until the control plane is ready, the supervisor ends when this process ends, so
// that an interrupted or killed `up` leaves no process running.
func detach(ctx context.Context, env environment, s start) error {
	folder, err := state.Create(ctx, s.dir, s.record())
	if err != nil {
		return err
	}
	defer folder.Release()
	leash, hold, err := os.Pipe() // the supervisor reaches the end of the file when this process ends
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer hold.Close()
	messages, reports, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("making a pipe: %w", err), leash.Close())
	}
	defer messages.Close()

	err = startSupervisor(ctx, folder, s, reports, leash)
	if err := errors.Join(err, reports.Close(), leash.Close()); err != nil {
		return err
	}
	interrupted := context.AfterFunc(ctx, func() { _ = hold.Close() })
	defer interrupted()
	err = follow(env, bufio.NewScanner(messages))
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted; all control plane processes are stopped")
	}
	return err
}

// startSupervisor runs this program again as the supervisor of the folder.
func startSupervisor(ctx context.Context, folder *state.Folder, s start, reports, leash *os.File) error {
	text, err := json.Marshal(order{Dir: s.dir, Options: s.options, Startup: int64(s.startup), Until: s.until})
	if err != nil {
		return fmt.Errorf("encoding the supervisor's order: %w", err)
	}
	log, err := os.OpenFile(folder.Path("log", "supervisor.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the supervisor's log: %w", err)
	}
	defer log.Close()
	child := exec.CommandContext(context.WithoutCancel(ctx), "/proc/self/exe", supervise,
		string(text)) // the supervisor outlives this process
	child.Dir = "/" // the supervisor must not prevent the removal of a directory
	child.Env = unmarked(os.Environ())
	child.Stdout, child.Stderr = log, log
	child.ExtraFiles = []*os.File{folderLock: folder.Lock(), reportPipe: reports, leashPipe: leash}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return fmt.Errorf("starting the supervisor: %w", err)
	}
	return child.Process.Release()
}

// follow shows the supervisor's progress until the control plane is ready or has failed.
func follow(env environment, lines *bufio.Scanner) error {
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("reading the supervisor's message: %w", err)
		}
		switch {
		case m.Ready:
			return nil
		case m.Failure != "":
			return errors.New(m.Failure)
		default:
			fmt.Fprintln(env.stderr, m.Progress)
		}
	}
	return errors.Join(lines.Err(), errors.New("the supervisor ended before the control plane was ready; read log/supervisor.log in the state folder"))
}
