//go:build airgap

package airgap

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var transcript = flag.String("transcript", "", "file to which the commands and their output are written")

// journey runs commands as users do, and records their output.
type journey struct {
	t       *testing.T
	out     io.Writer
	folder  string
	hidden  map[string]string
	node    string // the ID of a process in the node's network namespace
	started time.Time
}

func newJourney(t *testing.T) *journey {
	t.Helper()
	for _, name := range []string{"KUBECONFIG", "CLUSTER_REGISTRY", "CLUSTER_DIR"} {
		if os.Getenv(name) == "" {
			t.Fatalf("$%s is not set: run make test-airgap, which starts a node and sets the variable", name)
		}
	}
	j := &journey{t: t, out: io.Discard, folder: t.TempDir(), hidden: map[string]string{}, started: time.Now()}
	if *transcript != "" {
		file, err := os.Create(*transcript)
		testutil.Must(t, err)
		t.Cleanup(func() { _ = file.Close() })
		j.out = file
	}
	j.node = nodeProcess(t)
	j.hidden[testutil.Root()+"/"] = ""
	j.hidden[j.folder] = "DIR"
	return j
}

// nodeProcess returns the ID of the node's process from the record of the cluster tool.
func nodeProcess(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(os.Getenv("CLUSTER_DIR"), "cluster.json"))
	testutil.Must(t, err)
	var record struct {
		Components []struct {
			Name    string
			Process struct{ PID int }
		}
	}
	testutil.Must(t, json.Unmarshal(data, &record))
	for _, component := range record.Components {
		if component.Name == "node" && component.Process.PID > 0 {
			return strconv.Itoa(component.Process.PID)
		}
	}
	t.Fatalf("no node in %s", data)
	return ""
}

// say prints the title of a part of the journey.
func (j *journey) say(format string, args ...any) {
	j.print("\n## %s (after %.0f s)\n\n", fmt.Sprintf(format, args...), time.Since(j.started).Seconds())
}

func (j *journey) print(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for secret, shown := range j.hidden {
		text = strings.ReplaceAll(text, secret, shown)
	}
	fmt.Fprint(j.out, text)
}

// command is a command that users type. It runs on the machine or on the node.
type command struct {
	line   string
	args   []string
	env    []string
	input  string
	onNode bool
	// shown is the maximum number of recorded lines. If it is zero, there is no limit.
	shown int
	// until is a string. The method `try` records the command only if the output of the command contains this string.
	until string
}

// together collects the standard output and the standard error of a command, in the order in which they are written.
type together struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write appends output.
func (w *together) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

// String returns the collected output. Call it after the command has ended.
func (w *together) String() string { return w.text.String() }

// try runs a command, and returns its output.
func (j *journey) try(c command) (string, error) {
	if c.line == "" {
		c.line = strings.Join(c.args, " ")
	}
	args := c.args
	if c.onNode {
		args = append([]string{"nsenter", "--net", "--target", j.node, "--"}, args...)
	}
	ctx, cancel := context.WithTimeout(j.t.Context(), 15*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, args[0], args[1:]...)
	run.Dir, run.Env, run.Stdin = testutil.Root(), append(os.Environ(), c.env...), strings.NewReader(c.input)
	var stdout bytes.Buffer
	both := &together{}
	run.Stdout, run.Stderr = io.MultiWriter(&stdout, both), both
	err := run.Run()
	lines := strings.Split(strings.TrimRight(both.String(), "\n"), "\n")
	if c.shown > 0 && len(lines) > c.shown {
		lines = append(lines[:c.shown:c.shown], fmt.Sprintf("… %d more lines", len(lines)-c.shown))
	}
	prompt := "$ "
	if c.onNode {
		prompt = "node$ "
	}
	if strings.Contains(both.String(), c.until) {
		j.print("%s%s\n%s\n", prompt, c.line, strings.Join(lines, "\n"))
	}
	if err != nil {
		return stdout.String(), fmt.Errorf("%s: %w\n%s", c.line, err, both.String())
	}
	return stdout.String(), nil
}

// run runs a command that must succeed.
func (j *journey) run(c command) string {
	j.t.Helper()
	said, err := j.try(c)
	testutil.Must(j.t, err)
	return said
}

// refused runs a command, which must fail with an error that contains the string `want`.
func (j *journey) refused(c command, want string) {
	j.t.Helper()
	said, err := j.try(c)
	if err == nil || !strings.Contains(err.Error(), want) {
		j.t.Fatalf("%s: %v, want %q in it\n%s", c.line, err, want, said)
	}
}

func (j *journey) kubectl(args ...string) string {
	j.t.Helper()
	return j.run(command{args: append([]string{"kubectl"}, args...)})
}

// apply applies a manifest, and records the manifest and the output.
func (j *journey) apply(namespace, manifest string) {
	j.t.Helper()
	j.print("$ kubectl apply --namespace %s -f - <<EOF\n%s\nEOF\n", namespace, strings.Trim(manifest, "\n"))
	apply := exec.CommandContext(j.t.Context(), "kubectl", "apply", "--namespace="+namespace, "--filename=-")
	apply.Stdin = strings.NewReader(manifest)
	said, err := apply.CombinedOutput()
	if err != nil {
		j.t.Fatalf("kubectl apply: %v: %s", err, said)
	}
	j.print("%s", said)
}

// write writes a file in the journey's folder and returns its path.
func (j *journey) write(name, content string) string {
	j.t.Helper()
	path := filepath.Join(j.folder, name)
	testutil.Must(j.t, os.MkdirAll(filepath.Dir(path), 0o755))
	testutil.Must(j.t, os.WriteFile(path, []byte(content), 0o644))
	return path
}
