//go:build server

package boot

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

const (
	// bootTimeout is the time limit for the start of a server, which takes 5 to 14 s on an idle machine.
	bootTimeout = 5 * time.Minute
	// stopTimeout is the time limit for a process to exit after a signal.
	stopTimeout = 15 * time.Second
	// logTail is the number of log lines in a failure message.
	logTail = 40
)

// watchdog is a shell script that starts a guard process in its process group, and then replaces itself with the
// program in its arguments. When the test ends, the pipe at file descriptor 3 is closed, and the guard kills the whole
// group. Therefore, no process remains after a Ctrl-C, a timeout or a crash of the test.
const watchdog = `(cat <&3; kill -KILL 0) >/dev/null 2>&1 & exec "$0" "$@" 3<&-`

// process is a program that runs in its own process group.
type process struct {
	cmd    *exec.Cmd
	stopBy syscall.Signal // the signal that stops it gracefully
	log    *syncBuffer
	guard  *os.File
	exited chan struct{} // closed when the program has exited
}

// running contains every process that was started and has not been stopped.
var running sync.Map

// killAll kills every running process when a test is interrupted.
func killAll() {
	running.Range(func(p, _ any) bool {
		p.(*process).kill()
		return true
	})
}

// stopAll stops the processes that continue to run after their tests.
func stopAll() {
	running.Range(func(p, _ any) bool {
		p.(*process).stop()
		return true
	})
}

// startProcess starts a program, and stops it when the test is over.
func startProcess(t *testing.T, program *exec.Cmd, stopBy syscall.Signal) (*process, error) {
	t.Helper()
	p, err := start(program, stopBy)
	if err == nil {
		t.Cleanup(p.stop)
	}
	return p, err
}

// start starts a program. The caller must stop it.
func start(program *exec.Cmd, stopBy syscall.Signal) (*process, error) {
	alive, guard, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("create pipe: %w", err)
	}
	defer alive.Close()

	cmd := exec.Command("/bin/sh", append([]string{"-c", watchdog}, program.Args...)...)
	p := &process{cmd: cmd, stopBy: stopBy, log: &syncBuffer{}, guard: guard, exited: make(chan struct{})}
	cmd.Dir, cmd.Env, cmd.ExtraFiles = program.Dir, program.Env, []*os.File{alive}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	// Wait waits at most this long for children that keep the output open.
	cmd.WaitDelay = stopTimeout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if program.SysProcAttr != nil {
		cmd.SysProcAttr.Credential = program.SysProcAttr.Credential
	}
	if err := cmd.Start(); err != nil {
		guard.Close()
		return nil, fmt.Errorf("start %q: %w", program.Path, err)
	}
	go func() {
		_ = cmd.Wait() // cmd.ProcessState contains the result
		close(p.exited)
	}()
	running.Store(p, struct{}{})
	return p, nil
}

// stop sends a signal to the whole group, waits until the process exits or the time limit passes, and then kills the
// group. A second call does nothing.
func (p *process) stop() {
	if _, isRunning := running.LoadAndDelete(p); !isRunning {
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, p.stopBy) // the group may have exited already
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
	}
	p.kill()
}

func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // the group may have exited already
	<-p.exited
	p.guard.Close()
}

// llamaStack is a running server.
type llamaStack struct {
	url    string
	client *http.Client
	boot   time.Duration // the time from the start until the health check succeeds
	stop   func()        // stops the server before the end of the test
	// failed is the number of requests that the test has repeated because the server failed to answer them or to add a
	// file.
	failed  int
	process *process
}

// boot contains the settings for one start of the server.
type boot struct {
	release *release.Release
	config  string   // path of config.yaml
	home    string   // the directory HOME
	env     []string // the environment of the pod, NAME=value
	command []string // replaces the release's own command, if set
	client  *http.Client
	scheme  string
	secrets []string // values that must not appear in any output
	workers int      // the number of server processes, if more than one
	wrapper []string // the part of the pod's command before the server's own command
	// ownFiles means that the pod has the tokenizer, or does not need it.
	ownFiles bool
}

// bootError is the error of a server that does not start. It contains the server's log without secret values.
type bootError struct {
	err error
	log string
}

func (e *bootError) Error() string {
	return fmt.Sprintf("%v\nend of the server's log:\n%s", e.err, tail(e.log, logTail))
}

// startServer starts the server and waits until it is healthy. The server is stopped at the end of the test. If the
// server does not start, the error is a *bootError.
func startServer(t *testing.T, b boot) (*llamaStack, error) {
	t.Helper()
	port, err := testutil.FreePort()
	if err != nil {
		return nil, err
	}
	runtime := b.release.Runtime
	bin, err := realserver.Install(t.Context(), b.release.Version)
	if err != nil {
		return nil, err
	}
	words := slices.Concat(b.wrapper, []string{filepath.Join(bin, runtime.Command[0])}, runtime.Command[1:],
		[]string{b.config})
	if len(b.command) > 0 {
		words = b.command
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	if len(b.command)+len(b.wrapper) > 0 {
		path = bin + ":" + path
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = b.home
	// The tokenizer directory, the port and the workers' timeout differ from the values in the pod. If a variable occurs
	// twice in the environment, its last value applies.
	cmd.Env = append([]string{"PATH=" + path, "HOME=" + b.home}, b.env...)
	if !b.ownFiles {
		cmd.Env = append(cmd.Env, "TIKTOKEN_CACHE_DIR="+support.Tokenizer)
	}
	cmd.Env = append(cmd.Env,
		runtime.PortVariable+"="+strconv.Itoa(port), names.EnvPort+"="+strconv.Itoa(port))
	if b.workers > 1 {
		patience, err := filepath.Abs("testdata/patience")
		if err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Env, "PYTHONPATH="+patience)
	}

	begin := time.Now()
	p, err := startProcess(t, cmd, syscall.SIGTERM)
	if err != nil {
		return nil, err
	}
	server := &llamaStack{
		url:     b.scheme + "://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		client:  b.client,
		stop:    p.stop,
		process: p,
	}
	// The server answers this request only when its start is complete.
	err = p.poll(bootTimeout, 100*time.Millisecond, func() error { return server.get(t.Context(), "/v1/health", nil) })
	server.boot = time.Since(begin)
	if err == nil && b.workers > 1 {
		err = server.waitWorkers(b.workers)
	}
	if err != nil {
		return nil, &bootError{err: err, log: redact(p.log.tail(math.MaxInt32), b.secrets)}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the server's log:\n%s", redact(p.log.tail(logTail), b.secrets))
		}
	})
	return server, nil
}

// poll calls the function check until it returns nil. It fails if the program exits, or after the time limit.
func (p *process) poll(limit, interval time.Duration, check func() error) error {
	timeout := time.After(limit)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("the program ended early: %s: %w", p.cmd.ProcessState, err)
		case <-timeout:
			return fmt.Errorf("not within %s: %w", limit, err)
		case <-tick.C:
		}
	}
}

const (
	// started matches the message that each process of a server prints when it begins to serve.
	started = "Application startup complete"
	// workersTimeout is the time limit for the start of the other processes after the first process is healthy.
	workersTimeout = 2 * time.Minute
)

// waitWorkers waits until all server processes serve requests. A successful health check shows only that one process
// serves requests, and a process that cannot start terminates all processes.
func (s *llamaStack) waitWorkers(workers int) error {
	return s.process.poll(workersTimeout, 100*time.Millisecond, func() error {
		if serving := s.process.log.count(started); serving < workers {
			return fmt.Errorf("%d of %d processes serve", serving, workers)
		}
		return nil
	})
}

// redact removes secret values from a text.
func redact(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "(secret)")
		}
	}
	return text
}

// syncBuffer is a buffer that can be read while a process writes to it.
type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

var _ io.Writer = (*syncBuffer)(nil)

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) tail(lines int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return tail(b.buffer.String(), lines)
}

func (b *syncBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func (b *syncBuffer) count(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Count(b.buffer.Bytes(), []byte(text))
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
