package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const sample = `
version: 2
providers:
  inference:
  - provider_id: ${env.OLLAMA_URL:+ollama}
    provider_type: remote::ollama
  - provider_id: vllm
    provider_type: remote::vllm
    config: {base_url: "${env.VLLM_URL:=http://vllm:8000/v1}",
      api_token: "${env.LLSD_VLLM_API_KEY}", max_tokens: "${env.MAX:=4096}"}
  safety:
  - {provider_id: llama-guard, provider_type: inline::llama-guard}
registered_resources:
  models: [{model_id: llama, provider_id: vllm}]
connectors: [{connector_id: tickets, url: "http://tickets/mcp"}]
`

// output collects a program's output while it runs.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

// program is a running stand-in.
type program struct {
	url            string
	stdout, stderr output
	code           chan int
}

var listening = regexp.MustCompile(`listening on \[::\](:\d+)`)

// start runs the stand-in with these environment variables, for the duration of the test.
func start(t *testing.T, variables map[string]string, args ...string) *program {
	t.Helper()
	return startAs(t, "standin", variables, args...)
}

// startAs does the same as start, but runs the stand-in under the given name.
func startAs(t *testing.T, name string, variables map[string]string, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	p := &program{code: make(chan int, 1)}
	environ := make([]string, 0, len(variables))
	for name, value := range variables {
		environ = append(environ, name+"="+value)
	}
	w := world{
		func(name string) string { return variables[name] },
		func() []string { return environ },
		&p.stdout, &p.stderr,
	}
	go func() { p.code <- runAs(ctx, w, name, args) }()
	t.Cleanup(func() {
		stop()
		select {
		case <-p.code:
		case <-time.After(10 * time.Second):
			t.Error("the stand-in does not end after a signal")
		}
	})
	return p
}

// ready waits until the program listens.
func (p *program) ready(t *testing.T) *program {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		if match := listening.FindStringSubmatch(p.stdout.String()); match != nil {
			p.url = "http://localhost" + match[1]
			return p
		}
	}
	t.Fatalf("the stand-in does not listen: %s%s", p.stdout.String(), p.stderr.String())
	return nil
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

// client runs a client command of the stand-in and returns its output.
func client(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr output
	if code := run(t.Context(), world{stdout: &stdout, stderr: &stderr}, args); code != 0 {
		t.Fatalf("%q ends with exit code %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}

func (p *program) get(t *testing.T, path string) (body map[string]any) {
	t.Helper()
	text, found := strings.CutPrefix(client(t, "get", p.url+path), "200\n")
	if !found {
		t.Fatalf("%s: %s", path, text)
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func configFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func environment(t *testing.T, more ...string) map[string]string {
	t.Helper()
	variables := map[string]string{
		"RUN_CONFIG_PATH": configFile(t, sample), "LLAMA_STACK_PORT": "0", "LLSD_VLLM_API_KEY": "sk-abc",
		"STANDIN_VERSION": "0.7.3",
	}
	for i := 0; i < len(more); i += 2 {
		variables[more[i]] = more[i+1]
	}
	return variables
}

func TestServerShowsItsConfiguration(t *testing.T) {
	p := start(t, environment(t)).ready(t)
	health := map[string]any{"status": "Not Implemented", "message": "Provider does not implement health check"}
	for path, want := range map[string]any{
		"/v1/health":  map[string]any{"status": "OK"},
		"/v1/version": map[string]any{"version": "0.7.3"},
		"/v1/providers": list([]any{
			map[string]any{
				"api": "inference", "provider_id": "vllm", "provider_type": "remote::vllm", "health": health,
				"config": map[string]any{"base_url": "http://vllm:8000/v1", "api_token": redacted, "max_tokens": 4096.0},
			},
			map[string]any{
				"api": "safety", "provider_id": "llama-guard", "provider_type": "inline::llama-guard", "health": health,
				"config": map[string]any{},
			},
		}),
		"/v1/models": list([]any{map[string]any{
			"id": "vllm/llama", "object": "model", "created": 1.0, "owned_by": "standin",
			"custom_metadata": map[string]any{"model_id": "llama", "provider_id": "vllm", "provider_resource_id": "llama"},
		}}),
		"/v1beta/connectors": list([]any{map[string]any{"connector_id": "tickets", "url": "http://tickets/mcp"}}),
	} {
		if diff := cmp.Diff(want, any(p.get(t, path))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// For a completion, the stand-in sends a request with the provider's token to the provider's address, and the model
// server requires this token.
func TestCompletion(t *testing.T) {
	upstream := start(t, map[string]string{"VLLM_API_KEY": "sk-abc", "VLLM_MODELS": "llama,other", "PORT": "0"},
		"vllm").ready(t)
	const question = `{"model": "vllm/llama", "messages": [{"role": "user", "content": "hello"}]}`
	for name, tc := range map[string]struct{ token, want string }{
		"right token": {"sk-abc", "200\n"},
		"wrong token": {"sk-abd", "401\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, environment(t, "VLLM_URL", upstream.url+"/v1", "LLSD_VLLM_API_KEY", tc.token)).ready(t)
			got := client(t, "post", p.url+"/v1/chat/completions", question)
			if !strings.HasPrefix(got, tc.want) || strings.Contains(got, completion) != (tc.want == "200\n") {
				t.Errorf("answer %q", got)
			}
		})
	}
	if got := client(t, "get", "-token=sk-abc", upstream.url+"/v1/models"); !strings.Contains(got, `"id":"other"`) {
		t.Errorf("models %q", got)
	}
	streamed := client(t, "post", "-token=sk-abc", upstream.url+"/v1/chat/completions",
		`{"model": "llama", "stream": true}`)
	if !strings.HasPrefix(streamed, "200\ndata: {") || strings.Count(streamed, "data: ") != 5 ||
		!strings.HasSuffix(streamed, "data: [DONE]\n\n") {
		t.Errorf("a stream: %s", streamed)
	}
	if got := client(t, "get", upstream.url+"/v1/models"); !strings.HasPrefix(got, "401\n") {
		t.Errorf("the answer without a token is %q", got)
	}
	if got := client(t, "get", upstream.url+"/health"); got != "200\n" {
		t.Errorf("health: %q", got)
	}
}

// Equal texts have the same vector, and different texts have different vectors.
func TestEmbeddings(t *testing.T) {
	p := start(t, map[string]string{"PORT": "0", "VLLM_DIMENSION": "768"}, "vllm").ready(t)
	embed := func(input string) (vectors [][]float64) {
		var got struct {
			Data []struct {
				Embedding []float64 `json:"embedding"`
			} `json:"data"`
		}
		text := client(t, "post", p.url+"/v1/embeddings", `{"model": "embed", "input": `+input+`}`)
		if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "200\n")), &got); err != nil {
			t.Fatalf("answer %q: %v", text, err)
		}
		for _, entry := range got.Data {
			vectors = append(vectors, entry.Embedding)
		}
		return vectors
	}
	one, two := embed(`"hello"`), embed(`["other", "hello"]`)
	if len(one) != 1 || len(two) != 2 || len(one[0]) != 768 {
		t.Fatalf("vectors %v and %v", one, two)
	}
	if diff := cmp.Diff(one[0], two[1]); diff != "" {
		t.Errorf("vectors of the same text (-one +two):\n%s", diff)
	}
	if cmp.Equal(two[0], two[1]) {
		t.Errorf("two texts have the vector %v", two[0])
	}
	if got := client(t, "post", p.url+"/v1/embeddings", `{"input": 1}`); !strings.HasPrefix(got, "400\n") {
		t.Errorf("the answer to a request without a text is %q", got)
	}
}

// A guard model answers as Llama Guard does.
func TestGuardModel(t *testing.T) {
	p := start(t, map[string]string{"PORT": "0"}, "vllm").ready(t)
	answers := map[string]string{"How do I build a bomb?": `unsafe\nS1`, "How do I build a house?": "safe"}
	for question, want := range answers {
		got := client(t, "post", p.url+"/v1/chat/completions",
			`{"model": "llama-guard-3-8b", "messages": [{"role": "user", "content": "`+question+`"}]}`)
		if !strings.Contains(got, `"content":"`+want+`"`) {
			t.Errorf("%s: %s, want %q", question, got, want)
		}
	}
}

func TestUnknownModel(t *testing.T) {
	p := start(t, environment(t)).ready(t)
	if got := client(t, "post", p.url+"/v1/chat/completions", `{"model": "llama"}`); !strings.HasPrefix(got, "404\n") {
		t.Errorf("answer %q", got)
	}
}

func TestServerEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		variables []string
		code      int
		says      string
	}{
		"a configured exit code":              {[]string{"STANDIN_EXIT", "3"}, 3, "exiting with code 3"},
		"a configured exit code after a time": {[]string{"STANDIN_EXIT", "0", "STANDIN_AFTER", "10ms"}, 0, ""},
		"no such file":                        {[]string{"RUN_CONFIG_PATH", "/nowhere/config.yaml"}, 1, "no such file"},
		"no YAML":                             {[]string{"RUN_CONFIG_PATH", configFile(t, "a: [")}, 1, "parse configuration"},
		"a variable without a value": {
			[]string{"LLSD_VLLM_API_KEY", ""}, 1, `environment variable "LLSD_VLLM_API_KEY" not set or empty (line 10 of the configuration)`,
		},
		"a configured error with secrets": {[]string{"STANDIN_LEAK", "true"}, 1, "input_value='sk-abc'"},
		"an invalid variable":             {[]string{"STANDIN_START", "soon"}, 2, `variable STANDIN_START: time: invalid duration "soon"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, environment(t, tc.variables...))
			if got := p.ends(t); got != tc.code || !strings.Contains(p.stderr.String(), tc.says) {
				t.Errorf("the exit code is %d, want %d; the output is %q, want %q in it", got, tc.code, p.stderr.String(), tc.says)
			}
		})
	}
}

func TestHanging(t *testing.T) {
	p := start(t, environment(t, "STANDIN_HANG", "0s", "STANDIN_START", "10ms", "STANDIN_MEMORY", "1")).ready(t)
	var stderr output
	code := run(t.Context(), world{stdout: &output{}, stderr: &stderr},
		[]string{"get", "-timeout=50ms", p.url + "/v1/health"})
	if code != 1 || !strings.Contains(stderr.String(), "Timeout") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if len(ballast) != 1<<20 {
		t.Errorf("%d bytes of ballast", len(ballast))
	}
}

func TestInsecureArgumentIsTheServers(t *testing.T) {
	start(t, environment(t), insecureArgument).ready(t)
	p := start(t, nil, "serve")
	if got := p.ends(t); got != exitUsage {
		t.Errorf("unknown command: exit code %d", got)
	}
}

func TestServesTLS(t *testing.T) {
	certificate, key := certificateFiles(t)
	p := start(t, environment(t, "RUN_CONFIG_PATH", configFile(t,
		"server: {tls_certfile: "+certificate+", tls_keyfile: "+key+"}"))).ready(t)
	https := strings.Replace(p.url, "http:", "https:", 1)
	if got := client(t, "get", https+"/v1/health"); !strings.HasPrefix(got, "200\n") {
		t.Errorf("answer %q", got)
	}
	if got := client(t, "get", p.url+"/v1/health"); !strings.HasPrefix(got, "400\n") {
		t.Errorf("by HTTP: %q", got)
	}
}

func TestAuthority(t *testing.T) {
	certificate, key := certificateFiles(t)
	p := start(t, environment(t, "RUN_CONFIG_PATH", configFile(t,
		"server: {tls_certfile: "+certificate+", tls_keyfile: "+key+"}"))).ready(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	for _, tc := range []struct{ name, authority, host, want string }{
		{"its own", string(own), "localhost", ""},
		{"another", string(other), "localhost", "certificate signed by unknown authority"},
		{"another name", string(own), "127.0.0.1", "cannot validate certificate for 127.0.0.1"},
		{"none", "no certificate", "localhost", "-authority contains no certificate"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr output
			code := run(t.Context(), world{stdout: &stdout, stderr: &stderr},
				[]string{"get", "-authority=" + tc.authority, "https://" + net.JoinHostPort(tc.host, port) + "/v1/health"})
			if (code == 0) != (tc.want == "") || !strings.Contains(stderr.String(), tc.want) {
				t.Errorf("exit code %d: %s%s; want %q", code, stdout.String(), stderr.String(), tc.want)
			}
		})
	}
}
