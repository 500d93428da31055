package process

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// orphan starts a process with the mark. The parent of the process has ended.
func orphan(t *testing.T, mark, script string) Identity {
	t.Helper()
	// The parent does not wait for its child. After its setup, the script writes the ID of the process.
	parent := exec.CommandContext(t.Context(), "sh", "-c", `sh -c "$0" 2>/dev/null &`, script)
	parent.Env = append(os.Environ(), mark)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	parent.Stdout = write
	if err := parent.Run(); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	line, _, err := bufio.NewReader(read).ReadLine()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(line))
	if err != nil {
		t.Fatal(err)
	}
	process, err := Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Stop(limited(t), 0) })
	return process
}

// StopMarked stops orphans with the mark, even if they ignore the signal. It does not stop orphans with a different
// mark.
func TestStopMarked(t *testing.T) {
	mark := "CLUSTER_TEST_MARK=" + strconv.Itoa(os.Getpid())
	for name, test := range map[string]struct {
		script string
		grace  time.Duration
	}{
		"told":  {"echo $$; exec sleep 60", time.Minute},
		"deaf":  {"trap '' TERM; echo $$; while :; do sleep 0.05; done", 50 * time.Millisecond},
		"heirs": {"sleep 60 & echo $!; wait", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			ours, other := orphan(t, mark+name, test.script), orphan(t, mark+name+"1", "echo $$; exec sleep 60")
			if err := StopMarked(limited(t), mark+name, test.grace); err != nil {
				t.Fatal(err)
			}
			if ours.Alive() {
				t.Error("the process still runs")
			}
			if !other.Alive() {
				t.Error("a process with another mark was stopped")
			}
		})
	}
	if err := StopMarked(limited(t), mark+"nobody", time.Minute); err != nil {
		t.Error(err)
	}
}
