package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// prologue restores the variables of the previous command, and saves the variables after this command. Every assigned
// variable is exported, so that it is also set for the next command.
const prologue = `if [ -f "$DOCS_TEST/variables" ]; then . "$DOCS_TEST/variables"; fi
trap 'export -p >"$DOCS_TEST/variables"; pwd >"$DOCS_TEST/folder"' EXIT
set -o allexport
`

// firstOutput is the time limit for the first output of a background command.
const firstOutput = 10 * time.Second

// shell runs commands one after the other, each in a separate process. Each command starts with the variables and the
// current folder of the previous command.
type shell struct {
	place  *Place
	folder string
	// groups are the process groups of commands that might still be running.
	groups []int
}

// run runs a command and returns its output and its exit code. For a background command, run waits for the first
// output, but no longer than firstOutput.
func (s *shell) run(ctx context.Context, text string) (output string, code int, err error) {
	log, err := os.CreateTemp(s.place.State, "output-")
	if err != nil {
		return "", 0, fmt.Errorf("create a file for the output: %w", err)
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(ctx, s.place.Limit)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", prologue+text)
	command.Dir, command.Env = s.folder, s.environment()
	// The output goes to a file and not to a pipe, so that the shell can exit while a background command is still writing.
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	err = command.Run()
	if command.Process != nil {
		s.groups = append(s.groups, command.Process.Pid)
	}
	if background(text) && err == nil {
		waitForOutput(ctx, log.Name())
	}
	written, _ := os.ReadFile(log.Name())
	if folder, err := os.ReadFile(filepath.Join(s.place.State, "folder")); err == nil {
		s.folder = strings.TrimSuffix(string(folder), "\n")
	}
	if ctx.Err() != nil {
		return string(written), 0, fmt.Errorf("the command did not end within %v", s.place.Limit)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return string(written), exit.ExitCode(), nil
	}
	return string(written), 0, err
}

// environment returns the environment of a user with a home folder, a kubeconfig and the programs.
func (s *shell) environment() []string {
	variables := []string{
		"PATH=" + s.place.Programs + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + s.place.Folder, "KUBECONFIG=" + s.place.Kubeconfig, "DOCS_TEST=" + s.place.State,
		"LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "TZ=UTC",
		// kubectl caches the kinds of the API server. The cache is in the state folder of the page, and not in the page's
		// home folder.
		"KUBECACHEDIR=" + filepath.Join(s.place.State, "cache"),
	}
	return append(variables, s.place.Environment...)
}

// background reports whether a command runs in the background.
func background(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "&") && !strings.HasSuffix(text, "&&")
}

func waitForOutput(ctx context.Context, file string) {
	ctx, cancel := context.WithTimeout(ctx, firstOutput)
	defer cancel()
	for ctx.Err() == nil {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			wait(ctx, poll) // wait for the remaining lines of this output
			return
		}
		wait(ctx, poll/10)
	}
}

// close ends the background commands.
func (s *shell) close() {
	for _, group := range s.groups {
		_ = syscall.Kill(-group, syscall.SIGKILL) // most of these commands have already ended, so an error is ignored
	}
}
