package main

import (
	"context"
	"testing"
)

func TestVersionFromPython(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-c", "print(version(sys.argv[1]))", "llama-stack"}, 0, "0.7.3\n"},
		{[]string{"-c", "print(version(sys.argv[1]))", "ogx"}, exitFailed, ""},
		{[]string{"-c", "print(2)"}, 0, "2\n"},
		{[]string{"registry.py", "--config", "config.yaml"}, exitFailed, ""},
	} {
		var stdout output
		w := world{getenv: func(string) string { return "0.7.3" }, stdout: &stdout, stderr: &output{}}
		if code := runAs(t.Context(), w, pythonName, tc.args); code != tc.code || stdout.String() != tc.want {
			t.Errorf("%q: exit code %d, output %q", tc.args, code, stdout.String())
		}
	}
}

// The server and its factory read the path of the configuration from different variables. The factory reads its port
// from the argument.
func TestUvicornServes(t *testing.T) {
	variables := environment(t)
	variables["LLAMA_STACK_CONFIG"] = variables["RUN_CONFIG_PATH"]
	variables["RUN_CONFIG_PATH"] = "/none"
	variables["LLAMA_STACK_PORT"] = "not this one"
	for name, args := range map[string][]string{
		uvicornName: {"llama_stack.core.server.server:create_app", "--port", "0", "--factory"},
		pythonName:  {"-m", uvicornName, "llama_stack.core.server.server:create_app", "--port", "0"},
	} {
		p := startAs(t, name, variables, args...).ready(t)
		if got := p.get(t, "/v1/providers")["data"]; len(got.([]any)) != 2 {
			t.Errorf("%s: providers %v", name, got)
		}
	}
	var stderr output
	without := world{getenv: func(string) string { return "" }, stdout: &output{}, stderr: &stderr}
	if code := runAs(context.Background(), without, uvicornName, nil); code != exitFailed {
		t.Errorf("the exit code without the image's configuration is %d: %s", code, stderr.String())
	}
}
