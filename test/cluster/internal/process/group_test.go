package process

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// limited returns a context with a time limit, so that the test fails instead of waiting forever.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// start starts a shell script in a group and returns the identity of the script's process.
func start(t *testing.T, g *Group, script string) Identity {
	t.Helper()
	identity, err := g.Start(t.Context(), Command{
		Name: "script", Program: "/bin/sh", Args: []string{"-c", script},
		Env: []string{"PATH=/usr/bin:/bin"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

func newGroup(t *testing.T) *Group {
	t.Helper()
	g := NewGroup()
	t.Cleanup(func() {
		if err := g.Kill(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func TestChildrenHaveASessionOfTheirOwn(t *testing.T) {
	child := start(t, newGroup(t), "exec sleep 600")
	group, err := syscall.Getpgid(child.PID)
	if err != nil {
		t.Fatal(err)
	}
	if group != child.PID {
		t.Errorf("the child is in process group %d and would receive a Ctrl-C", group)
	}
}

func TestStop(t *testing.T) {
	for _, test := range []struct {
		name, script string
		grace        time.Duration
		// saysGoodbye reports whether the process runs its signal handler before it ends.
		saysGoodbye bool
	}{
		{name: "ends after the signal", script: "trap 'touch $BYE; exit 0' TERM; touch $READY; while :; do sleep 0.05; done", grace: 10 * time.Second, saysGoodbye: true},
		{name: "ignores the signal", script: "trap '' TERM; touch $READY; while :; do sleep 0.05; done", grace: 50 * time.Millisecond},
		{name: "no grace period", script: "trap 'touch $BYE; exit 0' TERM; touch $READY; while :; do sleep 0.05; done"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ready, bye := filepath.Join(t.TempDir(), "ready"), filepath.Join(t.TempDir(), "bye")
			child := start(t, newGroup(t), "READY="+ready+" BYE="+bye+"\n"+test.script)
			waitForFile(t, ready)
			for range 2 { // the second time, there is nothing to stop
				if err := child.Stop(limited(t), test.grace); err != nil {
					t.Fatal(err)
				}
			}
			if child.Alive() {
				t.Error("the process is alive after Stop")
			}
			if _, err := os.Stat(bye); (err == nil) != test.saysGoodbye {
				t.Errorf("goodbye file: %v, want there: %t", err, test.saysGoodbye)
			}
		})
	}
}

func waitForFile(t *testing.T, path string) {
	t.Helper()
	ctx := limited(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the file %s was not written", path)
		case <-tick.C:
		}
	}
}

func TestWaitGivesUp(t *testing.T) {
	child := start(t, newGroup(t), "exec sleep 600")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := child.Wait(ctx); err == nil {
		t.Error("Wait returned while the process runs")
	}
}
