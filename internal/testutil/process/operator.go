package process

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// Operator is a replica: a process with the permissions of the shipped ServiceAccount.
type Operator struct {
	// Port is the port of the webhooks, which listen on every address.
	Port uint16
	// Log collects the output of the program.
	Log testutil.Log
	// Process is the running program. It is nil after the program was killed.
	Process *exec.Cmd

	health string // address
}

// StartOperator starts a replica with additional options.
func (c *Cluster) StartOperator(t testing.TB, options ...string) *Operator {
	t.Helper()
	folder := t.TempDir()
	kubeconfig := c.operatorKubeconfig(t, folder)
	o := &Operator{Port: netip.MustParseAddrPort(testutil.FreeAddress(t)).Port(), health: testutil.FreeAddress(t)}
	o.Process = exec.CommandContext(t.Context(), c.Program, append([]string{
		"--leader-elect", "--kubeconfig=" + kubeconfig, "--metrics-bind-address=0",
		"--operator-namespace=" + names.OperatorNamespace, "--health-probe-bind-address=" + o.health,
		fmt.Sprintf("--webhook-bind-address=:%d", o.Port),
	}, options...)...)
	o.Process.Env = append([]string{"HOME=" + folder, "GOMEMLIMIT=340MiB"}, c.Environment...)
	o.Process.Stdout, o.Process.Stderr = &o.Log, &o.Log
	o.Process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	o.Process.WaitDelay = 5 * time.Second
	if err := o.Process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.Kill(t)
		if t.Failed() {
			t.Logf("the log of the operator on port %d:\n%s", o.Port, o.Log.String())
		}
	})
	return o
}

func (c *Cluster) operatorKubeconfig(t testing.TB, folder string) string {
	t.Helper()
	token, err := c.Plane.OperatorToken(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, tokenFile := filepath.Join(folder, "kubeconfig"), filepath.Join(folder, "token")
	if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := testutil.WriteKubeconfig(kubeconfig, c.Plane.Config.Host, c.Plane.Config.CAData, tokenFile); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// Ready returns an error until the readiness probe of the replica succeeds.
func (o *Operator) Ready() error {
	answer, err := http.Get("http://" + o.health + "/readyz?verbose")
	if err != nil {
		return fmt.Errorf("request /readyz: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", answer.Status)
	}
	return nil
}

// Kill kills the program with SIGKILL.
func (o *Operator) Kill(t testing.TB) {
	t.Helper()
	if o.Process == nil {
		return
	}
	_ = o.Process.Process.Kill() // the program may have ended already
	_ = o.Process.Wait()         // the error only reports the signal
	o.Process = nil
}
