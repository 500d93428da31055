package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/binaries"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/controlplane"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/line"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
)

func TestRunWrapsACommand(t *testing.T) {
	c := newTool(t)
	out := c.must(t, "run", "--with=", "--", "sh", "-c", "kubectl get namespace default --output=name; pwd")
	name, folder, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if name != "namespace/default" {
		t.Errorf("the command prints %q", out)
	}
	if _, err := os.Stat(filepath.Join(folder, "test", "cluster", "go.mod")); err != nil {
		t.Errorf("the command runs in %q, want the top of the work tree", folder)
	}
	c.expectNothingLeft(t)

	_, err := output(c.command(t.Context(), "run", "--with=", "--", "sh", "-c", "exit 3"))
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a failing command: %v", err)
	}
	c.expectNothingLeft(t)
}

// lingerer is a command that sends a request to the API server when it receives the signal to end.
const lingerer = `trap 'kubectl get namespace default --output=name >"$0/bye"; exit 0' TERM
touch "$0/ready"
while :; do sleep 0.05; done`

// TestEndOfRunLetsTheCommandClearUp checks that the command receives a signal when `run` receives SIGTERM or is killed.
// The control plane runs until the command has ended, unless `run` is killed.
func TestEndOfRunLetsTheCommandClearUp(t *testing.T) {
	for _, test := range []struct {
		signal syscall.Signal
		// answered reports whether the API server is available for the clean-up.
		answered bool
	}{{syscall.SIGTERM, true}, {syscall.SIGKILL, false}} {
		t.Run(test.signal.String(), func(t *testing.T) {
			c, folder := newTool(t), t.TempDir()
			command := c.command(t.Context(), "run", "--with=", "--", "sh", "-c", lingerer, folder)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			exists := func(name string) func() bool {
				return func() bool {
					_, err := os.Stat(filepath.Join(folder, name))
					return err == nil
				}
			}
			eventually(t, "the command runs", exists("ready"))
			if err := command.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the command gets the signal", exists("bye"))
			if err := command.Wait(); err == nil {
				t.Error("run ends with success although it was interrupted")
			}
			c.expectNoProcess(t)
			if test.answered {
				c.expectNothingLeft(t)
				expectText(t, filepath.Join(folder, "bye"), "namespace/default\n")
			}
		})
	}
}

// TestEndOfRunStopsWhatTheCommandLeft checks that no process of the command is still running after `run` ends, because
// such a process could use the next control plane, whose kubeconfig has the same path.
func TestEndOfRunStopsWhatTheCommandLeft(t *testing.T) {
	c := newTool(t)
	out := c.must(t, "run", "--with=", "--", "sh", "-c", "(sleep 600 >/dev/null 2>&1 & echo $!) & wait")
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		t.Fatal(err)
	}
	if left, err := process.Identify(pid); err == nil && left.Alive() {
		t.Error("the process is still running")
	}
	c.expectNothingLeft(t)
}

// unmarked removes the mark, so that `run` does not stop a control plane that its command starts with `up`.
func TestUnmarked(t *testing.T) {
	got := unmarked([]string{"A=b", runVariable + "1_2=yes", "MY_" + runVariable + "1_2=yes", runVariable + "3_4=yes"})
	if want := []string{"A=b", "MY_" + runVariable + "1_2=yes"}; !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func expectText(t *testing.T, file, want string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil || string(data) != want {
		t.Errorf("%s holds %q (%v), want %q", file, data, err, want)
	}
}

// The programs that a start needs decide what a user waits for on a new machine.
func TestNeeded(t *testing.T) {
	installed, none := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(installed, "kubectl"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	both := []string{controlplane.ControllerManager, controlplane.Scheduler}
	for name, test := range map[string]struct {
		path             string
		anyKubectl, node bool
		with             []string
		want             string
	}{
		"a command, with kubectl":    {installed, true, false, nil, "etcd kube-apiserver"},
		"a command, without kubectl": {none, true, false, nil, "etcd kube-apiserver kubectl"},
		"up prints the path":         {installed, false, false, both, "etcd kube-apiserver kube-controller-manager kube-scheduler kubectl"},
		"a node is set up with it":   {installed, true, true, both, "etcd kube-apiserver kube-controller-manager kube-scheduler kubectl"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			set := startFlags{node: &test.node, anyKubectl: test.anyKubectl}.needed(line.Line{}, test.with)
			if got := strings.Join(set.Needs, " "); got != test.want {
				t.Errorf("needs %s, want %s", got, test.want)
			}
			for _, name := range set.Needs {
				if !slices.ContainsFunc(set.Programs, func(p binaries.Program) bool { return p.Name == name }) {
					t.Errorf("no program is named %s", name)
				}
			}
		})
	}
}
