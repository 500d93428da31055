//go:build server

package boot

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// support contains the other programs that the tests need. TestMain installs them before the first test.
var support realserver.Support

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if support, err = realserver.InstallSupport(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	scratch, err := scratchDirectory()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	go func() {
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
		<-interrupted
		killAll()
		os.RemoveAll(scratch)
		os.Exit(1)
	}()
	defer stopAll()
	return m.Run()
}

// scratchDirectory creates the directory for all temporary files of the tests, so that they can be deleted together.
// Other users can read the directory, because PostgreSQL runs as a non-root user if the tests run as root.
func scratchDirectory() (string, error) {
	dir, err := os.MkdirTemp("", "llama-stack-server-test-")
	if err != nil {
		return "", fmt.Errorf("create scratch directory: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", fmt.Errorf("open scratch directory: %w", err)
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return "", fmt.Errorf("use scratch directory: %w", err)
	}
	return dir, nil
}
