package cli

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// outcome is the result of a command line.
type outcome struct {
	code           int
	stdout, stderr string
}

// call runs a command line in this process with the given environment.
func call(t *testing.T, folder string, variables map[string]string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := environment{
		stdout: &stdout, stderr: &stderr, getenv: func(name string) string { return variables[name] },
		folder: folder,
	}
	code := run(t.Context(), env, args)
	return outcome{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

func TestCommandLines(t *testing.T) {
	outside := t.TempDir()
	for _, test := range []struct {
		name      string
		folder    string
		variables map[string]string
		args      []string
		code      int
		// stdout is the complete expected standard output. stderr is a part of the expected standard error.
		stdout, stderr string
	}{
		{name: "no command", code: exitUsage, stderr: "Usage: cluster <command>"},
		{name: "unknown command", args: []string{"restart"}, code: exitUsage, stderr: `unknown command "restart"`},
		{name: "flag help", args: []string{"up", "--help"}, stderr: "-audit-log"},
		{name: "unknown flag", args: []string{"up", "--sideways"}, code: exitUsage, stderr: "-sideways"},
		{name: "unexpected argument", args: []string{"down", "now"}, code: exitUsage, stderr: `unexpected argument "now"`},
		{name: "unknown component", args: []string{"up", "--with=kubelet"}, code: exitUsage, stderr: `unknown component "kubelet"`},
		{
			name: "--until with an invalid process ID",
			args: []string{"up", "--dir=" + outside, "--until=-4"}, code: exitFailure,
			stderr: "-4 is not a process ID",
		},
		{name: "no command to run", args: []string{"run"}, code: exitUsage, stderr: "no command to run; write the command after --"},
		{name: "unknown line", args: []string{"assets", "--kubernetes=1.2"}, code: exitFailure, stderr: `unknown Kubernetes line "1.2"`},
		{name: "an unknown line in the variable", variables: map[string]string{lineVariable: "1.3"}, args: []string{"build"}, code: exitFailure, stderr: `"1.3"`},
		{
			name: "outside a work tree", folder: outside, args: []string{"build"}, code: exitFailure,
			stderr: "not inside a work tree",
		},
		{name: "own assets", variables: map[string]string{assetsVariable: "/mine"}, args: []string{"assets"}, stdout: "/mine\n"},
		{name: "own assets outside a work tree", folder: outside, variables: map[string]string{assetsVariable: "/mine"}, args: []string{"assets"}, stdout: "/mine\n"},
		{
			name: "nothing to stop", args: []string{"down", "--dir=" + filepath.Join(outside, "none")},
			stderr: "Nothing to stop",
		},
		{
			name: "status without a control plane", code: exitFailure,
			args:   []string{"status", "--dir=" + filepath.Join(outside, "none")},
			stderr: "no control plane",
		},
		{
			name: "restart-node without a control plane", code: exitFailure,
			args:   []string{restartNode, "--dir=" + filepath.Join(outside, "none")},
			stderr: "no control plane",
		},
		{name: "restart-node without a control plane in the variable's folder", variables: map[string]string{dirVariable: filepath.Join(outside, "other")}, args: []string{restartNode}, code: exitFailure, stderr: "other"},
		{
			name: "supervise as a user", args: []string{supervise}, code: exitFailure,
			stderr: "only `cluster up` can start this command",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := test.folder
			if folder == "" {
				folder = "."
			}
			got := call(t, folder, test.variables, test.args...)
			if got.code != test.code || got.stdout != test.stdout || !strings.Contains(got.stderr, test.stderr) {
				t.Errorf("got code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
			}
		})
	}
}

func TestHelpListsTheVerbs(t *testing.T) {
	got := call(t, ".", nil, "--help")
	if got.code != exitOK || got.stderr != "" {
		t.Errorf("got code %d, stderr %q", got.code, got.stderr)
	}
	for _, v := range verbs() {
		if listed := strings.Contains(got.stdout, "  "+v.name+" "); listed == v.hidden {
			t.Errorf("%s: listed %t, hidden %t", v.name, listed, v.hidden)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, text := range []string{
		"", "/plain/path-1.37_x", "two words", "it's", `a"b\c`, "$HOME `id` ;&|<>*?~#",
		"two\nlines",
	} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quote(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("the shell reads %s as %q (%v), want %q", quote(text), out, err, text)
		}
	}
	if got := quote("/plain/path"); got != "/plain/path" {
		t.Errorf("a plain path becomes %s", got)
	}
}

func TestInterruptedBuildIsReported(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	env := environment{stdout: &stdout, stderr: &stderr, getenv: func(string) string { return "" }, folder: "."}
	if code := run(ctx, env, []string{"build"}); code != exitFailure {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}

func TestWithoutProxy(t *testing.T) {
	const own = "10.220.0.0/14,.svc,.cluster.local"
	for _, tc := range []struct {
		variables map[string]string
		want      string
	}{
		{nil, own},
		{map[string]string{"no_proxy": "a.example.com"}, "a.example.com," + own},
		{map[string]string{"no_proxy": "a.example.com", "NO_PROXY": "b.example.com"}, "b.example.com," + own},
	} {
		if got := withoutProxy(func(name string) string { return tc.variables[name] }); got != tc.want {
			t.Errorf("%v: got %q, want %q", tc.variables, got, tc.want)
		}
	}
}
