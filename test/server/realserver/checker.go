package realserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Tier is how far a configuration is processed.
type Tier string

const (
	// Parse reads a configuration into the release's own classes. It takes a few milliseconds, and connects to and
	// writes nothing.
	Parse Tier = "parse"
	// Initialise starts the server's application in process and stops it. The services that it connects to at the start
	// have to exist.
	Initialise Tier = "initialise"
	// Serve is Initialise with requests, which the running application answers in process.
	Serve Tier = "serve"
)

// Request is a configuration to ask about.
type Request struct {
	Tier   Tier              `json:"tier"`
	Config string            `json:"config"`
	Env    map[string]string `json:"env"`
	// Without is another configuration, for a comparison of how both are read.
	Without string `json:"without,omitempty"`
	// Home is the server's home directory, which keeps its state. If it is empty, a temporary directory is used and
	// removed.
	Home string `json:"home,omitempty"`
	// Requests are sent to the application of tier Serve.
	Requests []Call `json:"requests,omitempty"`
	// Seconds is the limit for the server's code; zero means 30.
	Seconds int `json:"seconds,omitempty"`
}

// Call is a request to the server. {0.id} in a text is the id in the answer to the first one.
type Call struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// JSON is the body.
	JSON any `json:"json,omitempty"`
	// File is the text of an uploaded file, in place of JSON.
	File string `json:"file,omitempty"`
}

// Answer is the server's answer to a Call.
type Answer struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

// Verdict is the result of the release's own code for a configuration.
type Verdict struct {
	OK bool `json:"ok"`
	// Same reports whether the configuration is read in the same way as Request.Without.
	Same bool `json:"same"`
	// Phase is the rejected part of the configuration: `top level`, `provider inference/vllm`, `start`.
	Phase string `json:"phase"`
	// Error is the class of the exception, Message its text.
	Error   string `json:"error"`
	Message string `json:"message"`
	// Missing is a Python package that is not installed here, which is not a verdict about the configuration.
	Missing string `json:"missing"`
	// Answers are those to Request.Requests.
	Answers []Answer `json:"answers"`
}

// String is the verdict in words.
func (v Verdict) String() string {
	if v.OK {
		return "ok"
	}
	return fmt.Sprintf("%s: %s: %s", v.Phase, v.Error, v.Message)
}

// renewal is the number of starts in one process before a new one is begun, because each start leaves data in memory.
const renewal = 60

// Checker checks configurations with one release, one after the other. It is not safe for concurrent use.
type Checker struct {
	python, tokenizer string

	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Reader
	starts  int
}

// NewChecker makes a checker of an installed release; bin is the result of Install.
func NewChecker(bin string, support Support) *Checker {
	return &Checker{python: filepath.Join(bin, "python"), tokenizer: support.Tokenizer}
}

// Check asks about a configuration. An error means that no verdict exists: the process could not be started. The death
// of a process, or a missing answer, is a verdict of its own kind.
func (c *Checker) Check(ctx context.Context, request Request) (Verdict, error) {
	if request.Seconds == 0 {
		request.Seconds = 30
	}
	if c.starts >= renewal {
		c.Close()
	}
	if c.cmd == nil {
		if err := c.start(ctx); err != nil {
			return Verdict{}, err
		}
	}
	if request.Tier != Parse {
		c.starts++
	}
	line, err := json.Marshal(request)
	if err != nil {
		return Verdict{}, fmt.Errorf("write request: %w", err)
	}
	// The process ends its own work when the time is over. A process that cannot, because the server waits in a thread,
	// is ended here.
	late := time.AfterFunc(time.Duration(request.Seconds+60)*time.Second, c.kill)
	defer late.Stop()
	defer context.AfterFunc(ctx, c.kill)()
	_, err = c.stdin.Write(append(line, '\n'))
	var answer []byte
	if err == nil {
		answer, err = c.answers.ReadBytes('\n')
	}
	if err != nil {
		c.Close()
		return Verdict{Phase: "process", Error: "Exit", Message: "the process ended without an answer: " + err.Error()}, nil
	}
	var verdict Verdict
	if err := json.Unmarshal(answer, &verdict); err != nil {
		return Verdict{}, fmt.Errorf("read answer: %w", err)
	}
	return verdict, nil
}

func (c *Checker) start(ctx context.Context) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.python, filepath.Join(here(), "check.py"))
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "TIKTOKEN_CACHE_DIR=" + c.tokenizer,
		// The server does not use the internet.
		"HF_HUB_OFFLINE=1",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start checker: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start checker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start checker: %w", err)
	}
	c.cmd, c.stdin, c.answers, c.starts = cmd, stdin, bufio.NewReader(stdout), 0
	return nil
}

func (c *Checker) kill() {
	if cmd := c.cmd; cmd != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	}
}

// Close ends the process. The checker can be used again.
func (c *Checker) Close() {
	if c.cmd == nil {
		return
	}
	closing := c.stdin.Close()
	c.kill()
	if err := errors.Join(closing, c.cmd.Wait()); err != nil {
		_ = err // it was killed
	}
	c.cmd = nil
}
