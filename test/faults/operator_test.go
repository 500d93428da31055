package faults_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// operator is a running operator and its gate.
type operator struct {
	*gate
	cluster   *cluster
	folder    string
	arguments []string
	process   *exec.Cmd
	ended     chan error
}

// startOperator starts an operator behind a new gate, with a token for the shipped ServiceAccount.
func (c *cluster) startOperator(t *testing.T, arguments ...string) *operator {
	t.Helper()
	o := &operator{gate: newGate(t, c.Plane.Config), cluster: c, folder: t.TempDir(), arguments: arguments}
	c.gates = append(c.gates, o.gate)
	o.giveToken(t, nil)
	testutil.Must(t, testutil.WriteKubeconfig(o.file("kubeconfig"), o.url(), o.trusted, o.file("token")))
	o.start(t)
	t.Cleanup(func() {
		o.kill(t)
		if t.Failed() {
			said, _ := os.ReadFile(o.file("log"))
			t.Logf("log of the operator:\n%s", said)
		}
	})
	return o
}

func (o *operator) file(name string) string { return filepath.Join(o.folder, name) }

// giveToken writes a new token to the operator's token file, as the kubelet does. If the parameter `bound` is not nil,
// the token is valid only while this Secret exists.
func (o *operator) giveToken(t *testing.T, bound *corev1.Secret) string {
	t.Helper()
	token, err := o.cluster.Plane.OperatorToken(t.Context(), bound)
	testutil.Must(t, err)
	testutil.Must(t, os.WriteFile(o.file("token"), []byte(token), 0o600))
	return token
}

// start runs the operator binary, and appends its output to the operator's log.
func (o *operator) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(o.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	testutil.Must(t, err)
	defer log.Close()
	o.process = exec.Command(o.cluster.program, append([]string{
		"--kubeconfig=" + o.file("kubeconfig"), "--operator-namespace=" + names.OperatorNamespace,
		"--metrics-bind-address=0", "--webhook-bind-address=0", "--health-probe-bind-address=127.0.0.1:0",
	}, o.arguments...)...)
	o.process.Stdout, o.process.Stderr = log, log
	o.process.Env = []string{"HOME=" + o.folder}
	o.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testutil.Must(t, o.process.Start())
	ended := make(chan error, 1)
	o.ended = ended
	go func(process *exec.Cmd) { ended <- process.Wait() }(o.process)
}

// kill kills the process with SIGKILL, which the process cannot handle.
func (o *operator) kill(t *testing.T) {
	t.Helper()
	if o.process == nil {
		return
	}
	_ = o.process.Process.Kill() // the process may have exited
	_ = o.ends(t)                // the error only reports that the process was killed
}

// restart kills the process and starts it again.
func (o *operator) restart(t *testing.T) {
	t.Helper()
	o.kill(t)
	o.start(t)
}

// ends waits until the process exits, and returns its error.
func (o *operator) ends(t *testing.T) error {
	t.Helper()
	select {
	case err := <-o.ended:
		o.process = nil
		return err
	case <-time.After(patience):
		t.Fatalf("the operator did not end within %v", patience)
		return nil
	}
}
