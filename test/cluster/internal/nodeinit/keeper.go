package nodeinit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const (
	// restartPause is the pause before the keeper restarts a program that has ended.
	restartPause = time.Second
	// shortLife is the minimum run time of a program. If a program ends earlier, its setup is faulty, and the node ends.
	shortLife = 5 * time.Second
	// socketPoll is the interval between attempts to connect to a socket that a program needs. socketPatience is the time
	// limit for these attempts.
	socketPoll     = 50 * time.Millisecond
	socketPatience = 30 * time.Second
)

// keeper starts programs and keeps them running. Programs are started and reaped only in the goroutine of the method
// run, so starting and reaping never happen concurrently.
type keeper struct {
	output      io.Writer
	environment []string
	starts      chan Command
	failures    chan error
	running     map[int]life
}

// life is one run of a program.
type life struct {
	command Command
	started time.Time
}

func newKeeper(setup Setup, output io.Writer) *keeper {
	path := strings.Join(append(setup.Programs, "/usr/sbin", "/usr/bin", "/sbin", "/bin"), ":")
	_ = os.Setenv("PATH", path) // LookPath reads PATH; Setenv cannot fail for this name
	return &keeper{
		output:      output,
		environment: []string{"PATH=" + path, "HOME=/root", "TMPDIR=" + setup.State},
		starts:      make(chan Command),
		failures:    make(chan error, 1),
		running:     map[int]life{},
	}
}

// read reads commands and forwards each command when the socket that the command needs accepts connections. It returns
// when the process that sends the commands has ended, or when a socket does not accept connections within
// socketPatience.
func (k *keeper) read(messages *json.Decoder) {
	for {
		var command Command
		if err := messages.Decode(&command); err != nil {
			k.failures <- fmt.Errorf("reading a command: %w", err)
			return
		}
		if !k.offer(command) {
			return
		}
	}
}

// offer forwards a new command, or the command of a program that has ended, when the socket that the command needs
// accepts connections. It returns false if the socket does not accept connections within socketPatience.
func (k *keeper) offer(command Command) bool {
	if err := awaitSocket(command.Needs); err != nil {
		k.failures <- fmt.Errorf("starting %s: %w", command.Name, err)
		return false
	}
	k.starts <- command
	return true
}

// run runs the main loop of the first process, and returns the error that ends the loop.
func (k *keeper) run() error {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	for {
		select {
		case command := <-k.starts:
			if err := k.start(command); err != nil {
				return err
			}
		case <-ended:
			if err := k.reap(); err != nil {
				return err
			}
		case err := <-k.failures:
			return err
		}
	}
}

// start runs a program in a new session.
func (k *keeper) start(command Command) error {
	log, err := os.OpenFile(command.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", command.Name, err)
	}
	defer log.Close()
	program, err := exec.LookPath(command.Name)
	if err != nil {
		return fmt.Errorf("starting %s: %w", command.Name, err)
	}
	child, err := os.StartProcess(program, append([]string{command.Name}, command.Args...), &os.ProcAttr{
		Dir: "/", Env: k.environment, Files: []*os.File{nil, log, log}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("starting %s: %w", command.Name, err)
	}
	k.running[child.Pid] = life{command: command, started: time.Now()}
	fmt.Fprintf(k.output, "started %s, process %d\n", command.Name, child.Pid)
	return child.Release()
}

// reap collects every process that has ended: programs, which it starts again, and orphaned processes.
func (k *keeper) reap() error {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if pid <= 0 || err != nil {
			return nil //nolint:nilerr // no child has ended, or there is none
		}
		ended, ours := k.running[pid]
		if !ours {
			continue
		}
		delete(k.running, pid)
		if time.Since(ended.started) < shortLife {
			return fmt.Errorf("%s ended shortly after its start (%s); see %s", ended.command.Name, describe(status), ended.command.Log)
		}
		fmt.Fprintf(k.output, "%s ended (%s) and will be restarted\n", ended.command.Name, describe(status))
		time.AfterFunc(restartPause, func() { k.offer(ended.command) })
	}
}

func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", status.ExitStatus())
}

// awaitSocket returns when the socket accepts connections, or with an error after socketPatience.
func awaitSocket(path string) error {
	if path == "" {
		return nil
	}
	for end := time.Now().Add(socketPatience); ; {
		connection, err := net.Dial("unix", path) //nolint:noctx // a local socket accepts or refuses a connection immediately
		if err == nil {
			return connection.Close()
		}
		if time.Now().After(end) {
			return fmt.Errorf("nothing is listening on its socket: %w", err)
		}
		<-time.After(socketPoll)
	}
}
