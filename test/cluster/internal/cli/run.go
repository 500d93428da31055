package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

const (
	// commandGrace is the time limit for the command to end after a signal.
	commandGrace = 30 * time.Second
	// interruptGrace is the time between a Ctrl-C and the signal to the command.
	interruptGrace = 10 * time.Second
	// leftGrace is the time within which the processes that the command leaves running must end after a signal.
	leftGrace = 5 * time.Second
	// runVariable is the first part of the name of an environment variable that marks the command and its descendants. The
	// second part identifies the process of this tool that runs the command, so a command that itself calls `run` has one
	// mark for each `run`.
	runVariable = "CLUSTER_RUN_"
	// runDir is the state directory. It differs from the state directory of `up`, because both may run at the same time.
	runDir = ".cache/cluster-run"
)

func runRun(ctx context.Context, env environment, args []string) error {
	flags := newFlags(env, "run", " -- command [arguments]", "Starts a control plane, and runs the command at the top of the work tree with KUBECONFIG set and kubectl in PATH.\nDownloads or builds kubectl only if none is installed, or with --node. When the command ends,\nstops everything, including processes that the command left running. The exit code is 0 if the command's exit code\nis 0, and otherwise 1.")
	chosen := addStartFlags(env, flags, runDir)
	chosen.anyKubectl = true
	if err := parseLeading(flags, args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return refuse(flags, "no command to run; write the command after --")
	}
	s, err := chosen.resolve(ctx, env, flags)
	if err != nil {
		return err
	}
	return around(ctx, env, s, flags.Args())
}

// around runs the command while a control plane runs. An interrupt first ends the command, which may need the API
// server to clean up. When the command or the control plane ends, around also ends the other.
func around(ctx context.Context, env environment, s start, args []string) error {
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	interrupted := context.AfterFunc(ctx, stopServing) // while no command runs, an interrupt stops the control plane
	commanding, stopCommand := context.WithCancel(context.WithoutCancel(ctx))
	defer stopCommand()
	defer context.AfterFunc(ctx, func() { passOn(ctx, stopCommand) })()

	var outcome chan error
	err := attached(serving, env, s, func() error {
		if !interrupted() {
			return nil
		}
		outcome = make(chan error, 1)
		go func() {
			defer stopServing()
			outcome <- command(commanding, env, s, args)
		}()
		return nil
	})
	if outcome == nil {
		return errors.Join(err, ctx.Err())
	}
	stopCommand()
	return errors.Join(<-outcome, err)
}

// passOn ends the command after this process has received a signal. After a Ctrl-C at the terminal, passOn first waits
// for interruptGrace, because the command has already received the signal, and must not receive a second signal while
// it cleans up.
func passOn(ctx context.Context, stopCommand func()) {
	var cause interruption
	if errors.As(context.Cause(ctx), &cause) && cause.signal == os.Interrupt {
		time.AfterFunc(interruptGrace, stopCommand)
		return
	}
	stopCommand()
}

// command runs the user's command until it ends. It signals the user's command to end when ctx is done. Finally, it
// stops the processes that the user's command leaves running, because they must not use the next control plane, whose
// kubeconfig has the same path.
func command(ctx context.Context, env environment, s start, args []string) error {
	runtime.LockOSThread() // the child receives a signal when this thread ends
	defer runtime.UnlockOSThread()
	child := exec.CommandContext(ctx, args[0], args[1:]...)
	child.Dir = string(s.root)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, env.stdout, env.stderr
	record, err := state.Read(s.dir)
	if err != nil {
		return err
	}
	self, err := process.Self()
	if err != nil {
		return err
	}
	mark := fmt.Sprintf("%s%d_%d=yes", runVariable, self.PID, self.Start)
	child.Env = append(os.Environ(), mark,
		"KUBECONFIG="+s.kubeconfig(),
		"PATH="+s.options.Programs+string(filepath.ListSeparator)+env.getenv("PATH"))
	if record.Registry != "" {
		child.Env = append(child.Env, registryVariable+"="+record.Registry, dirVariable+"="+s.dir)
	}
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = commandGrace
	if err = child.Run(); err != nil {
		err = fmt.Errorf("running %q: %w", args[0], err)
	}
	return errors.Join(err, process.StopMarked(context.WithoutCancel(ctx), mark, leftGrace))
}

// unmarked returns the environment for processes that outlive the command of a `run`.
func unmarked(environment []string) []string {
	return slices.DeleteFunc(environment, func(entry string) bool { return strings.HasPrefix(entry, runVariable) })
}
