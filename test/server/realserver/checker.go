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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/verdict"
)

// Tier is the part of a server's start that the check includes.
type Tier string

const (
	// Parse reads a configuration into the release's own classes. It takes a few milliseconds, opens no connections, and
	// writes no files.
	Parse Tier = "parse"
	// Initialize starts the server's application in the checker's process, and stops it. The services to which the
	// application connects when it starts must exist.
	Initialize Tier = "initialize"
	// Serve does the same as Initialize, and also sends requests to the running application.
	Serve Tier = "serve"
)

// Request is a configuration to check.
type Request struct {
	Tier   Tier              `json:"tier"`
	Config string            `json:"config"`
	Env    map[string]string `json:"env"`
	// Local makes the checker replace the parts of the configurations and of Env that exist only in a cluster. The
	// addresses of services become the address of a model server, and the paths on the pod's volume become paths in the
	// home directory.
	Local bool `json:"local,omitempty"`
	// Models are the names of the models that the model server of Local lists.
	Models []string `json:"models,omitempty"`
	// Without is a second configuration. The verdict shows whether the server reads both configurations in the same way.
	Without string `json:"without,omitempty"`
	// Home is the server's home directory, which contains its state. If Home is empty, the checker uses an empty directory
	// and removes it.
	Home string `json:"home,omitempty"`
	// Requests are the requests that the tier Serve sends to the application.
	Requests []Call `json:"requests,omitempty"`
	// Seconds is the time limit for the server's code. If it is zero, the limit is 30 seconds.
	Seconds int `json:"seconds,omitempty"`
}

// Call is a request to the server. In the strings of a call, the checker replaces {N.id} with the ID in the answer to
// an earlier call. N is the index of that call.
type Call struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// JSON is the body of the request.
	JSON any `json:"json,omitempty"`
	// File is the text of a file to upload instead of JSON.
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
	// Same reports whether the server reads the same values from the configuration and from Request.Without.
	Same bool `json:"same"`
	// Phase is the step that failed, for example `top level`, `provider inference/vllm` or `start`.
	Phase string `json:"phase"`
	// Error is the class of the exception, and Message is its text.
	Error   string `json:"error"`
	Message string `json:"message"`
	// Missing is a required Python package that is not installed on this machine. If it is set, there is no verdict on the
	// configuration.
	Missing string `json:"missing"`
	// Late reports whether the server's code reached the time limit.
	Late bool `json:"late"`
	// Answers are the answers to Request.Requests.
	Answers []Answer `json:"answers"`

	// key is the key under which the verdict can be kept. It is empty for a kept verdict, and for a verdict that does not
	// depend only on the request.
	key string
}

// String returns the verdict in words.
func (v Verdict) String() string {
	if v.OK {
		return "ok"
	}
	return fmt.Sprintf("%s: %s: %s", v.Phase, v.Error, v.Message)
}

// renewal is the number of starts after which the checker starts a new process, because each start leaves data in
// memory.
const renewal = 60

// Checker checks configurations one after the other, with the code of one release. It is not safe for concurrent use.
// The server's process starts with the first request for which there is no kept verdict.
type Checker struct {
	python, tokenizer string
	kept              *verdict.Store

	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Reader
	starts  int
	models  *models
	scratch string // the directory for the home directories of the process
	homes   int    // the number of home directories
}

// NewChecker installs a release, for example 0.7.3, and returns a checker that uses it.
func NewChecker(ctx context.Context, release string, support Support) (*Checker, error) {
	bin, err := Install(ctx, release)
	if err != nil {
		return nil, err
	}
	in, err := inputsOf(release, bin)
	if err != nil {
		return nil, err
	}
	return newChecker(release, filepath.Join(bin, "python"), support, in)
}

func newChecker(release, python string, support Support, in inputs) (*Checker, error) {
	fixed, err := in.digest()
	if err != nil {
		return nil, err
	}
	kept, err := verdict.Open("checker-"+release, fixed)
	if err != nil {
		return nil, err
	}
	return &Checker{python: python, tokenizer: support.Tokenizer, kept: kept}, nil
}

// Check returns the verdict on a configuration, which may be a kept verdict. It returns an error if it cannot start the
// process. If the process exits early or does not respond, Check returns a verdict and no error.
func (c *Checker) Check(ctx context.Context, request Request) (Verdict, error) {
	if request.Seconds == 0 {
		request.Seconds = 30
	}
	key, err := c.kept.Key(request)
	if err != nil {
		return Verdict{}, err
	}
	var given Verdict
	if c.kept.Load(key, &given) {
		return given, nil
	}
	if given, err = c.ask(ctx, request); err != nil {
		return Verdict{}, err
	}
	// The verdict of a server with a state also depends on the state.
	if request.Home == "" && !given.Late && given.Phase != ended {
		given.key = key
	}
	return given, nil
}

// Keep keeps verdicts, so that later calls of Check do not ask the server again. Do not keep a verdict that fails a
// test.
func (c *Checker) Keep(verdicts ...Verdict) error {
	for _, v := range verdicts {
		if v.key == "" {
			continue
		}
		if err := c.kept.Save(v.key, v); err != nil {
			return err
		}
	}
	return nil
}

// ended is the phase of a verdict if the process exits without an answer.
const ended = "process"

// ask sends a request to the process.
func (c *Checker) ask(ctx context.Context, request Request) (Verdict, error) {
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
	filled, err := c.fill(request)
	if err != nil {
		return Verdict{}, err
	}
	if request.Home == "" {
		defer os.RemoveAll(filled.Home)
	}
	answer, err := c.exchange(ctx, filled)
	if err != nil || request.Home != "" {
		return answer, err
	}
	return c.restored(answer, filepath.Dir(filled.Home)), nil
}

// exchange sends one line to the process, and reads one line.
func (c *Checker) exchange(ctx context.Context, request Request) (Verdict, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return Verdict{}, fmt.Errorf("write request: %w", err)
	}
	// The process stops its work at the time limit. If it cannot stop because the server waits in a thread, the checker
	// kills the process.
	limit := time.Duration(request.Seconds+60) * time.Second
	var killed atomic.Bool
	late := time.AfterFunc(limit, func() {
		killed.Store(true)
		c.kill()
	})
	defer late.Stop()
	defer context.AfterFunc(ctx, c.kill)()
	_, err = c.stdin.Write(append(line, '\n'))
	var answer []byte
	if err == nil {
		answer, err = c.answers.ReadBytes('\n')
	}
	if err != nil {
		c.Close()
		if killed.Load() {
			message := fmt.Sprintf("the checker killed the process after %s", limit)
			return Verdict{Phase: ended, Error: "Timeout", Message: message, Late: true}, nil
		}
		return Verdict{Phase: ended, Error: "Exit", Message: "the process ended without an answer: " + err.Error()}, nil
	}
	var given Verdict
	if err := json.Unmarshal(answer, &given); err != nil {
		return Verdict{}, fmt.Errorf("read answer: %w", err)
	}
	return given, nil
}

func (c *Checker) start(ctx context.Context) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.python, filepath.Join(here(), "check.py"))
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "TIKTOKEN_CACHE_DIR=" + c.tokenizer,
		// With this variable, the Hugging Face library does not use the internet.
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
	if c.scratch, err = os.MkdirTemp("", "checker-"); err != nil {
		return fmt.Errorf("start checker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start checker: %w", errors.Join(err, os.RemoveAll(c.scratch)))
	}
	c.cmd, c.stdin, c.answers, c.starts = cmd, stdin, bufio.NewReader(stdout), 0
	return nil
}

func (c *Checker) kill() {
	if cmd := c.cmd; cmd != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the process may have exited
	}
}

// Close stops the process. The checker can be used again.
func (c *Checker) Close() {
	if c.cmd == nil {
		return
	}
	closing := c.stdin.Close()
	c.kill()
	if err := errors.Join(closing, c.cmd.Wait(), os.RemoveAll(c.scratch)); err != nil {
		_ = err // the error only reports that the process was killed
	}
	if c.models != nil {
		c.models.server.Close()
	}
	c.cmd, c.models = nil, nil
}
