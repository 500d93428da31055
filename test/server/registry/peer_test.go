//go:build server

package registry

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// peer is a process that runs peer.py with the release's own Python and uses the release's classes. It starts with the
// first request.
type peer struct {
	python string
	cmd    *exec.Cmd
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

// peers are the peers of all tests, by version of the release. The tests of this package run one after the other, and
// each request contains its complete input, so a release needs only one process, which imports the server's classes
// only once.
type peers map[string]*peer

// knownPeers contains the peers that peerOf returned.
var knownPeers = peers{}

// peerOf returns the peer of a release and the path of the release's Python.
func peerOf(t *testing.T, version string) (*peer, string) {
	t.Helper()
	bin, err := realserver.Install(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(bin, "python")
	if knownPeers[version] == nil {
		knownPeers[version] = &peer{python: python}
	}
	return knownPeers[version], python
}

func (p *peer) start() error {
	cmd := exec.Command(p.python, "peer.py")
	cmd.Env, cmd.Stderr = append(os.Environ(), "HF_HUB_OFFLINE=1"), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the peer: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the peer: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the peer: %w", err)
	}
	p.cmd, p.stdin, p.stdout = cmd, stdin, bufio.NewReader(stdout)
	return nil
}

// stop closes the input of each peer, and waits until its process ends.
func (p peers) stop() {
	for _, one := range p {
		if one.cmd == nil {
			continue
		}
		one.stdin.Close()
		_ = one.cmd.Wait() // a peer that crashed has already failed a test
	}
}

// ask sends actions to the peer, and returns one result for each action.
func (p *peer) ask(t *testing.T, r request) []json.RawMessage {
	t.Helper()
	if p.cmd == nil {
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
	}
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
