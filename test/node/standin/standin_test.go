package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// The scenarios of test/node fail if the stand-in does not behave like a server. The tests in this package show what
// the stand-in refuses, because a stand-in that accepts everything would make those scenarios meaningless.

const sample = `
version: 2
providers:
  inference:
  - provider_id: vllm
    provider_type: remote::vllm
    config: {base_url: "${env.VLLM_URL:=http://vllm:8000/v1}", api_token: "${env.LLSD_VLLM_API_KEY}"}
registered_resources:
  models: [{model_id: llama, provider_id: vllm}]
`

// program is a running stand-in.
type program struct {
	stdout, stderr testutil.Log
	code           chan int
}

// start runs the stand-in with these environment variables, for the duration of the test.
func start(t *testing.T, variables map[string]string, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	p := &program{code: make(chan int, 1)}
	w := world{getenv: func(name string) string { return variables[name] }, stdout: &p.stdout, stderr: &p.stderr}
	go func() { p.code <- run(ctx, w, args) }()
	t.Cleanup(func() {
		stop()
		p.ends(t)
	})
	return p
}

var listening = regexp.MustCompile(`listening on \[::\](:\d+)`)

// url waits until the program listens, and returns its URL.
func (p *program) url(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		if match := listening.FindStringSubmatch(p.stdout.String()); match != nil {
			return "http://localhost" + match[1]
		}
	}
	t.Fatalf("the stand-in does not listen: %s%s", p.stdout.String(), p.stderr.String())
	return ""
}

// ends waits until the program exits, and returns the exit code.
func (p *program) ends(t *testing.T) int {
	t.Helper()
	select {
	case code := <-p.code:
		p.code <- code
		return code
	case <-time.After(10 * time.Second):
		t.Fatal("the stand-in does not end")
		return -1
	}
}

func environment(t *testing.T, more ...string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{"RUN_CONFIG_PATH": path, "LLAMA_STACK_PORT": "0", "LLSD_VLLM_API_KEY": "sk-abc"}
	for i := 0; i < len(more); i += 2 {
		variables[more[i]] = more[i+1]
	}
	return variables
}

// For a completion, the stand-in sends a request with the provider's token to the provider's address, and the model
// server requires this token.
func TestCompletion(t *testing.T) {
	upstream := start(t, map[string]string{"VLLM_API_KEY": "sk-abc", "PORT": "0"}, "vllm").url(t)
	for name, tc := range map[string]struct{ token, model, want string }{
		"right token":      {"sk-abc", "vllm/llama", "200\n"},
		"wrong token":      {"sk-abd", "vllm/llama", "401\n"},
		"unknown provider": {"sk-abc", "llama", "404\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, environment(t, "VLLM_URL", upstream+"/v1", "LLSD_VLLM_API_KEY", tc.token))
			var stdout testutil.Log
			code := run(t.Context(), world{stdout: &stdout, stderr: &stdout}, []string{
				"post", p.url(t) + "/v1/chat/completions", `{"model": "` + tc.model + `", "messages": []}`,
			})
			got := stdout.String()
			if code != 0 || !strings.HasPrefix(got, tc.want) || strings.Contains(got, completion) != (tc.want == "200\n") {
				t.Errorf("exit code %d, answer %q, want %q", code, got, tc.want)
			}
		})
	}
}

func TestServerEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		variable, value string
		code            int
		says            string
	}{
		"a variable without a value": {
			"LLSD_VLLM_API_KEY", "", exitFailed, `environment variable "LLSD_VLLM_API_KEY" not set or empty (line 7 of the configuration)`,
		},
		"an invalid variable": {
			"STANDIN_START", "soon", exitUsage, `variable STANDIN_START: time: invalid duration "soon"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, environment(t, tc.variable, tc.value))
			if got := p.ends(t); got != tc.code || !strings.Contains(p.stderr.String(), tc.says) {
				t.Errorf("the exit code is %d, want %d; the output is %q, want %q in it", got, tc.code, p.stderr.String(), tc.says)
			}
		})
	}
}
