package testutil

import (
	"fmt"
	"os/exec"
	"testing"
	"time"
)

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
