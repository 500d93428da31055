//go:build server

package registry

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// peer is a process that runs peer.py with the release's own Python and uses the release's classes.
type peer struct {
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// request is the input of peer.py.
type request struct {
	Config    string            `json:"config"`
	Env       map[string]string `json:"env"`
	Do        [][]any           `json:"do"`
	Namespace *string           `json:"namespace,omitempty"`
	DBPath    string            `json:"db_path,omitempty"`
}

// startPeer starts the peer of a release, and returns the peer and the path of the release's Python.
func startPeer(t *testing.T, version string) (*peer, string) {
	t.Helper()
	bin, err := realserver.Install(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(bin, "python")
	cmd := exec.CommandContext(t.Context(), python, "peer.py")
	cmd.Env, cmd.Stderr = append(os.Environ(), "HF_HUB_OFFLINE=1"), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait() // the context may have stopped the process
	})
	return &peer{stdin: stdin, stdout: bufio.NewReader(stdout)}, python
}

// ask sends actions to the peer, and returns one result for each action.
func (p *peer) ask(t *testing.T, r request) []json.RawMessage {
	t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	answer, err := p.stdout.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Results []json.RawMessage `json:"results"`
		Error   string            `json:"error"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Error != "" {
		t.Fatalf("the server's classes: %s", reply.Error)
	}
	return reply.Results
}
