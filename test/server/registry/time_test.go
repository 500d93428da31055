//go:build server

package registry

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// TestTimes checks how long the program takes if the release's files are already in memory: at most 0.3 s with SQLite,
// and at most 2 s with other stores. The limits apply to processor time, because the machine may be busy. The log also
// contains the elapsed time. The test runs every time, because it measures this machine.
func TestTimes(t *testing.T) {
	eachStoreAgain(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		w.restart(t, c)
		file := filepath.Join(t.TempDir(), "config.yaml")
		writeFile(t, file, c.text(w))
		used, clock := time.Hour, time.Hour
		for range 5 {
			cmd := exec.CommandContext(t.Context(), w.python, filepath.Join(w.script, names.RegistryProgram), "--config", file)
			for name, value := range w.env {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
			begin := time.Now()
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			clock = min(clock, time.Since(begin))
			used = min(used, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
		t.Logf("%s %s: %s of processor time, %s elapsed", w.rel.Version, w.store, used.Round(time.Millisecond),
			clock.Round(time.Millisecond))
		limit := 2 * time.Second
		if w.store == "kv_sqlite" {
			limit = 300 * time.Millisecond
		}
		if used > limit {
			t.Errorf("the program takes %s of processor time, want at most %s", used, limit)
		}
	})
}
