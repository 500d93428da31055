package testutil

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Eventually polls until the function `done` returns true. It fails the test if `done` returns an error, or after half
// a minute.
func Eventually(t testing.TB, what string, done func() (bool, error)) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, settle, true,
		func(context.Context) (bool, error) { return done() })
	if err != nil {
		t.Fatalf("wait for %s: %v", what, err)
	}
}

// Within polls until the function `check` returns nil, and returns the elapsed time. If `check` does not return nil
// within the time `patience`, the test fails with the last error.
func Within(t testing.TB, patience time.Duration, check func() error) time.Duration {
	t.Helper()
	var last error
	begin := time.Now()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true,
		func(context.Context) (bool, error) {
			last = check()
			return last == nil, nil
		})
	if err != nil {
		t.Fatalf("after %v: %v", patience, last)
	}
	return time.Since(begin)
}

// WaitEstablished waits until the API server has established the given definitions. The parameter `definitions`
// contains arguments for `kubectl wait`. WaitEstablished repeats the command, because kubectl fails instead of waiting
// while a new definition has no conditions.
func (c *Cluster) WaitEstablished(t testing.TB, definitions ...string) {
	t.Helper()
	arguments := append([]string{"--kubeconfig=" + c.Kubeconfig, "wait", "--for=condition=Established"}, definitions...)
	Within(t, time.Minute, func() error {
		command := exec.CommandContext(t.Context(), Kubectl(), arguments...)
		command.Dir = Root()
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl wait: %w: %s", err, output)
		}
		return nil
	})
}
