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

// peer is a process that runs peer.py with the release's own Python and uses the release's classes.
type peer struct {
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

// startedPeers contains the peers that are running.
var startedPeers = peers{}

// peerOf returns the peer of a release and the path of the release's Python. It starts the peer if it is not running.
func peerOf(t *testing.T, version string) (*peer, string) {
	t.Helper()
	bin, err := realserver.Install(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(bin, "python")
	if startedPeers[version] == nil {
		if startedPeers[version], err = startPeer(python); err != nil {
			t.Fatal(err)
		}
	}
	return startedPeers[version], python
}

// startPeer starts a peer with the Python of a release.
func startPeer(python string) (*peer, error) {
	cmd := exec.Command(python, "peer.py")
	cmd.Env, cmd.Stderr = append(os.Environ(), "HF_HUB_OFFLINE=1"), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the peer: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the peer: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the peer: %w", err)
	}
	return &peer{cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}, nil
}

// stop closes the input of each peer, and waits until its process ends.
func (p peers) stop() {
	for _, one := range p {
		one.stdin.Close()
		_ = one.cmd.Wait() // a peer that crashed has already failed a test
	}
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
