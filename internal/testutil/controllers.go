package testutil

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// RunControllers runs the cluster's own controllers with these names until the end of the test. No other part of the
// cluster creates pods, counts them, collects garbage or scales workloads.
func RunControllers(t testing.TB, kubeconfig string, names []string, flags ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	arguments := append([]string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--controllers=" + strings.Join(names, ","), "--leader-elect=false", "--secure-port=0", "--cert-dir=" + t.TempDir(),
	}, flags...)
	command := exec.CommandContext(ctx, filepath.Join(filepath.Dir(Kubectl()), "kube-controller-manager"), arguments...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = log, log
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		err := command.Wait()
		t.Logf("the controllers ended: %v", err)
		if t.Failed() {
			written, _ := os.ReadFile(log.Name())
			t.Logf("the controllers' log:\n%s", written)
		}
	})
}
