package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

func runStatus(_ context.Context, env environment, args []string) error {
	flags := newFlags(env, "status", "", "Shows the components of the control plane and whether they are running. The exit code is 1 if the control plane\ndoes not serve requests.")
	dir := dirFlag(flags, defaultDir)
	if err := parse(flags, args); err != nil {
		return err
	}
	path, record, err := readRecord(env, *dir)
	if err != nil {
		return err
	}
	return show(env, path, record)
}

// show prints the record and the state of each process.
func show(env environment, path string, record state.Record) error {
	healthy := record.Ready && state.Supervised(record)
	for _, component := range record.Components {
		word := "running"
		if !component.Process.Alive() {
			word, healthy = "ended", false
		}
		fmt.Fprintf(env.stdout, "%-24s %-8s pid %d\n", component.Name, word, component.Process.PID)
	}
	if !healthy {
		return fmt.Errorf("the control plane in %q does not serve requests; read the logs in %s", path, filepath.Join(path, "log"))
	}
	fmt.Fprintf(env.stdout, "Kubernetes %s at %s, up for %s\n%s", record.Kubernetes, record.Server,
		time.Since(record.Started).Round(time.Second), exports(path, record))
	return nil
}
