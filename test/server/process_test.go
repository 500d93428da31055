//go:build server

package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// bootTimeout is many times what a boot takes on an idle machine (5 to 14 s).
	bootTimeout = 4 * time.Minute
	// stopTimeout is how long a process may take to end when asked to.
	stopTimeout = 15 * time.Second
	// logTail is how many lines of a log a failure shows.
	logTail = 40
)

// process is a program that runs in a process group of its own.
type process struct {
	cmd    *exec.Cmd
	log    *syncBuffer
	exited chan struct{}
	err    error // valid once exited is closed
}

// startProcess starts a program that is asked to end when the test binary dies,
// however that happens: nothing may be left behind by a Ctrl-C or a timeout.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, log: &syncBuffer{}, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	// Children that keep the pipe open must not keep Wait waiting.
	cmd.WaitDelay = stopTimeout
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM

	started := make(chan error)
	go func() {
		// The death signal follows the thread that started the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %q: %w", cmd.Path, err)
	}
	return p, nil
}

// stop asks the whole group to end, then ends it.
func (p *process) stop() {
	group := -p.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // gone already is fine
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-p.exited
}

// llamaStack is a running server.
type llamaStack struct {
	url    string
	client *http.Client
	boot   time.Duration // from the start to a green health
}

// boot is what one start of the server needs.
type boot struct {
	config  string   // path of config.yaml
	home    string   // HOME, an empty directory
	env     []string // the environment of the pod, NAME=value
	client  *http.Client
	scheme  string
	secrets []string // values that no output may show
}

// startServer boots the server and waits until it is healthy; the test ends it.
// An error carries the end of the server's log, free of secret values.
func startServer(t *testing.T, b boot) (*llamaStack, error) {
	t.Helper()
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(installed.llama, "stack", "run", b.config)
	cmd.Dir = b.home
	// The tokenizer and the port are the two things in which this machine
	// differs from the image and the pod; the last of two equal names counts.
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + b.home}, b.env...)
	cmd.Env = append(cmd.Env, "TIKTOKEN_CACHE_DIR="+installed.tokenizer, "LLAMA_STACK_PORT="+strconv.Itoa(port))

	begin := time.Now()
	p, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	t.Cleanup(p.stop)
	server := &llamaStack{
		url:    b.scheme + "://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		client: b.client,
	}
	if err := server.waitHealthy(t.Context(), p); err != nil {
		return nil, fmt.Errorf("%w\nend of the server's log:\n%s", err, redact(p.log.tail(logTail), b.secrets))
	}
	server.boot = time.Since(begin)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the server's log:\n%s", redact(p.log.tail(logTail), b.secrets))
		}
	})
	return server, nil
}

// waitHealthy polls /v1/health, which answers only once everything has started.
func (s *llamaStack) waitHealthy(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.exited:
			return fmt.Errorf("the server ended before it was healthy: %v", p.err)
		case <-ctx.Done():
			return fmt.Errorf("the server was not healthy within %s", bootTimeout)
		case <-tick.C:
			if s.get(ctx, "/v1/health", nil) == nil {
				return nil
			}
		}
	}
}

// freePort returns a port that was free a moment ago.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find free port: %w", err)
	}
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("find free port: not a TCP address")
	}
	return address.Port, nil
}

// redact takes secret values out of a text.
func redact(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "(secret)")
		}
	}
	return text
}

// syncBuffer is a buffer that may be read while a process writes into it.
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
	all := strings.Split(strings.TrimRight(b.buffer.String(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
