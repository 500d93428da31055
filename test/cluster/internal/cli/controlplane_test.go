package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// mainVariable makes the test binary act as the tool, so that the tests can run, kill and examine real processes.
const mainVariable = "CLUSTER_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainVariable) != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// patience is the time limit for every wait. It is long, because the machine may be busy with builds.
const patience = 4 * time.Minute

// tool runs the command line of the tool with the state directory of one test.
type tool struct {
	dir string
}

func newTool(t *testing.T) tool {
	t.Helper()
	c := tool{dir: filepath.Join(t.TempDir(), "cluster")}
	t.Cleanup(func() {
		command := c.command(context.WithoutCancel(t.Context()), "down")
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("down at the end: %v\n%s", err, out)
		}
		c.expectNothingLeft(t)
	})
	return c
}

// command returns a command that calls the tool as a separate process.
func (c tool) command(ctx context.Context, verb string, args ...string) *exec.Cmd {
	args = append([]string{verb, "--dir=" + c.dir}, args...)
	if verb == "up" { // the control plane also ends if the test is killed
		args = slices.Insert(args, 1, "--until="+strconv.Itoa(os.Getpid()))
	}
	command := exec.CommandContext(ctx, "/proc/self/exe", args...)
	command.Env = append(os.Environ(), mainVariable+"=1")
	return command
}

// must runs the tool, which must succeed, and returns its standard output.
func (c tool) must(t *testing.T, verb string, args ...string) string {
	t.Helper()
	out, err := output(c.command(t.Context(), verb, args...))
	if err != nil {
		t.Fatalf("%s %v: %v", verb, args, err)
	}
	return out
}

// output returns a command's standard output. The error contains its standard error.
func output(command *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), errors.Join(err, errors.New(stderr.String()))
	}
	return stdout.String(), nil
}

// kubectl runs kubectl against the control plane.
func (c tool) kubectl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(c.programs(t), "kubectl"), args...)
	command.Env = []string{"KUBECONFIG=" + filepath.Join(c.dir, "kubeconfig"), "HOME=" + c.dir}
	return output(command)
}

// programs returns the directory with the programs of the control plane.
func (c tool) programs(t *testing.T) string {
	t.Helper()
	folder, _, found := strings.Cut(strings.TrimPrefix(c.record(t).Options, "programs="), " port=")
	if !found {
		t.Fatalf("no folder of programs in %q", c.record(t).Options)
	}
	return folder
}

func (c tool) record(t *testing.T) state.Record {
	t.Helper()
	record, err := state.Read(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// eventually polls until the function `check` returns true. It fails the test if this takes longer than the constant
// `patience`.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-ctx.Done():
			t.Fatalf("timed out: %s", what)
		case <-tick.C:
		}
	}
}

// processes returns the processes whose command line contains the state directory: the supervisor and all components.
func (c tool) processes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil && bytes.Contains(data, []byte(c.dir)) {
			found = append(found, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return found
}

func (c tool) expectNoProcess(t *testing.T) {
	t.Helper()
	eventually(t, "every process of the control plane ends", func() bool { return len(c.processes(t)) == 0 })
}

func (c tool) expectNothingLeft(t *testing.T) {
	t.Helper()
	if left := c.processes(t); len(left) > 0 {
		t.Errorf("processes are still running: %q", left)
	}
	if _, err := os.Stat(c.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder still exists (%v)", err)
	}
}

// deployment has two pods that cannot be scheduled, because there is no node.
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.invalid/web}]}
`

// TestUpRunsARealControlPlane tests the whole life cycle of a control plane: up, working controllers, status, the audit
// log, and down.
func TestUpRunsARealControlPlane(t *testing.T) {
	c := newTool(t)
	export := c.must(t, "up", "--audit-log")
	if want := "export KUBECONFIG=" + c.dir + "/kubeconfig\n"; export != want {
		t.Fatalf("up prints %q, want %q", export, want)
	}
	t.Run("namespaces", func(t *testing.T) {
		out, err := c.kubectl(t, "get", "namespaces", "--output=name")
		if err != nil || !strings.Contains(out, "namespace/default\n") {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("version", func(t *testing.T) {
		out, err := c.kubectl(t, "version", "--output=json")
		if err != nil {
			t.Fatal(err)
		}
		var version struct {
			ServerVersion struct{ GitVersion, Major, Minor string } `json:"serverVersion"`
		}
		if err := json.Unmarshal([]byte(out), &version); err != nil {
			t.Fatal(err)
		}
		got := version.ServerVersion
		if got.GitVersion != c.record(t).Kubernetes || !strings.HasPrefix(got.GitVersion, "v"+got.Major+"."+got.Minor+".") {
			t.Errorf("the version of the server is %+v, and the version in the record is %s", got, c.record(t).Kubernetes)
		}
	})
	t.Run("controllers", func(t *testing.T) { expectControllers(t, c) })
	t.Run("audit log", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(c.dir, "log", "audit.log"))
		if err != nil || !bytes.Contains(data, []byte(`"userAgent":"kubectl/`)) {
			t.Errorf("the audit log does not show kubectl (%v, %d bytes)", err, len(data))
		}
	})
	t.Run("status", func(t *testing.T) {
		out := c.must(t, "status")
		if strings.Count(out, " running ") != 4 || !strings.Contains(out, export) {
			t.Errorf("status prints\n%s", out)
		}
	})
	t.Run("up again", func(t *testing.T) {
		if again := c.must(t, "up", "--audit-log"); again != export {
			t.Errorf("prints %q, want %q", again, export)
		}
		if _, err := output(c.command(t.Context(), "up")); err == nil || !strings.Contains(err.Error(), "with different flags") {
			t.Errorf("up with other flags: %v", err)
		}
	})
	c.must(t, "down")
	c.expectNothingLeft(t)
	c.must(t, "down")
}

// expectControllers applies a Deployment, and waits for a ReplicaSet and for pods that wait for a node. It then deletes
// the Deployment, and waits for the removal of the ReplicaSet and the pods.
func expectControllers(t *testing.T, c tool) {
	file := filepath.Join(t.TempDir(), "deployment.yaml")
	if err := os.WriteFile(file, []byte(deployment), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := c.kubectl(t, "apply", "--filename="+file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	show := func(want string, args ...string) {
		t.Helper()
		eventually(t, want, func() bool {
			out, err := c.kubectl(t, append([]string{"get", "--selector=app=web"}, args...)...)
			return err == nil && out == want
		})
	}
	show("Deployment/web", "replicasets", "--output=jsonpath={.items[*].metadata.ownerReferences[*].kind}/{.items[*].metadata.ownerReferences[*].name}")
	show("Unschedulable Unschedulable", "pods", `--output=jsonpath={.items[*].status.conditions[?(@.type=="PodScheduled")].reason}`)
	if out, err := c.kubectl(t, "delete", "deployment", "web"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	show("", "replicasets,pods", "--output=name") // show waits until the garbage collector has removed the objects
}

func TestKilledSupervisorEndsEveryProcess(t *testing.T) {
	c := newTool(t)
	c.must(t, "up", "--with=")
	if got := len(c.record(t).Components); got != 2 {
		t.Errorf("%d components run, want only etcd and the API server", got)
	}
	if err := c.record(t).Supervisor.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.expectNoProcess(t)
	// A process that is ending no longer has a command line, but still has a state.
	eventually(t, "status reports that both have ended", func() bool {
		out, err := output(c.command(t.Context(), "status"))
		return err != nil && strings.Contains(err.Error(), "does not serve") && strings.Count(out, " ended ") == 2
	})
	t.Run("up cleans up first", func(t *testing.T) {
		c.must(t, "up", "--with=")
	})
}

func TestKilledLauncherLeavesNothing(t *testing.T) {
	c := newTool(t)
	launcher := c.command(t.Context(), "up")
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the API server starts", func() bool {
		record, err := state.Read(c.dir)
		return err == nil && len(record.Components) == 2
	})
	if err := launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait() // the error only reports that the process was killed
	c.expectNoProcess(t)
	c.expectNothingLeft(t)
}

func TestComponentThatDiesEndsTheControlPlane(t *testing.T) {
	c := newTool(t)
	c.must(t, "up", "--with=")
	for _, component := range c.record(t).Components {
		if component.Name == "etcd" {
			if err := component.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.expectNoProcess(t)
	data, err := os.ReadFile(filepath.Join(c.dir, "log", "supervisor.log"))
	if err != nil || !bytes.Contains(data, []byte("etcd ended (signal: killed)")) {
		t.Errorf("the supervisor's log contains %q (%v)", data, err)
	}
}

func TestUpUntilAProcessEnds(t *testing.T) {
	c := newTool(t)
	owner := exec.CommandContext(t.Context(), "sleep", "600")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	c.must(t, "up", "--with=", "--until="+strconv.Itoa(owner.Process.Pid))
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // the error only reports that the process was killed
	c.expectNoProcess(t)
	c.expectNothingLeft(t)
}

func TestForeground(t *testing.T) {
	for _, test := range []struct {
		signal syscall.Signal
		// orderly reports whether the signal allows the tool to clean up.
		orderly bool
	}{{syscall.SIGINT, true}, {syscall.SIGTERM, true}, {syscall.SIGKILL, false}} {
		t.Run(test.signal.String(), func(t *testing.T) {
			c := newTool(t)
			command := c.command(t.Context(), "up", "--foreground", "--with=")
			var stderr bytes.Buffer
			command.Stderr = &stderr
			stdout, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			line := make([]byte, 1024)
			n, err := stdout.Read(line)
			if err != nil || !strings.HasPrefix(string(line[:n]), "export KUBECONFIG=") {
				t.Fatalf("prints %q (%v); %s", line[:n], err, stderr.String())
			}
			if err := command.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			if err := command.Wait(); (err == nil) != test.orderly {
				t.Errorf("ended with %v; %s", err, stderr.String())
			}
			c.expectNoProcess(t)
			if test.orderly {
				c.expectNothingLeft(t)
			}
		})
	}
}
