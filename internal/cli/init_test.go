package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/starter"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// initArguments returns the flags that a provider type requires in a release.
func initArguments(t *testing.T, line, name string) []string {
	t.Helper()
	kind, ok := starter.Answers{Release: line, Provider: name}.KindOf()
	if !ok {
		t.Fatalf("release %s has no provider %q", line, name)
	}
	args := []string{"--release", line, "--provider", name}
	if starter.NeedsEndpoint(kind) {
		args = append(args, "--endpoint", "http://models:8000")
	}
	if kind.CredentialKey != "" {
		args = append(args, "--secret", starter.DefaultSecret(kind))
	}
	for _, key := range starter.Required(kind) {
		args = append(args, "--setting", key+"=text")
	}
	if len(kind.Serves) == 0 || slices.Contains(kind.Serves, "llm") {
		args = append(args, "--model", "m")
	}
	return args
}

// storeArguments are the flags for each kind of storage.
var storeArguments = [][]string{
	{"--store", "none"},
	{"--store", "sqlite"},
	{"--store", "sqlite", "--volume-size", "20Gi"},
	{"--store", "postgres"},
	{"--store", "postgres", "--store-secret", "pg/dsn"},
	{"--store", "redis"},
	{
		"--store", "redis", "--store-endpoint", "redis.data:6380", "--store-secret", "redis/password", "--volume-size",
		"1Gi",
	},
}

// initValid checks that validate accepts the manifest that init writes.
func initValid(t *testing.T, args []string) string {
	t.Helper()
	got := run(t, "", append([]string{"init", "demo"}, args...)...)
	got.mustExit(t, 0, args)
	run(t, got.out, "validate", "-f", "-").exits(t, 0, args)
	return got.out
}

// For every provider and every kind of storage in every release, init writes a valid manifest. Every second command
// line has the optional flags.
func TestInitProviders(t *testing.T) {
	count := 0
	for _, line := range release.Offered() {
		for _, name := range starter.Providers(line) {
			store := storeArguments[count%len(storeArguments)]
			args := slices.Concat(initArguments(t, line, name), store)
			if count%2 == 0 {
				args = append(args, "--expose", "llama.example.com", "-n", "team-a")
			}
			initValid(t, args)
			count++
		}
	}
	if count < 100 {
		t.Errorf("%d combinations", count)
	}
}

// The manifest contains the Secrets as comments without values, and the settings with their types.
func TestInitManifest(t *testing.T) {
	out := initValid(t, []string{
		"--provider", "remote::vllm", "--endpoint", "https://vllm", "--secret", "shared/token", "--setting", "max_tokens=100",
		"--store", "postgres", "--store-secret", "shared/url",
	})
	contains(t, out, "max_tokens: 100\n", "provider: remote::vllm\n",
		"#   printf %s \"$TOKEN\" > token.txt\n#   printf %s \"$URL\" > url.txt\n"+
			"#   kubectl create secret generic shared --from-file=token=token.txt --from-file=url=url.txt\n",
		"# kind: Secret\n# metadata:\n#   name: shared\n# stringData:\n#   token: # the API key of vllm\n#   url: # postgresql://")
	if strings.Contains(out, "\nkind: Secret") {
		t.Errorf("the manifest contains a Secret that is not a comment:\n%s", out)
	}
}

// The message about an invalid flag contains the flag, the value, and the valid values or the remedy.
func TestInitRefuses(t *testing.T) {
	vllm := []string{"--provider", "vllm", "--endpoint", "http://vllm"}
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"Demo", "--provider", "ollama", "--endpoint", "http://ollama"}, []string{`NAME: metadata.name: "Demo" must be at most 55 lowercase letters`}},
		{[]string{"--provider", "vlm"}, []string{`--provider: spec.providers.inference.provider: "vlm" is not a type of inference provider`, `did you mean "vllm"?`}},
		{[]string{"--store", "none"}, []string{`--provider: spec.providers.inference.provider: required`, "vllm"}},
		{[]string{"--provider", "tgi"}, []string{`--provider: spec.providers.inference.provider: "tgi"`, "release 0.6 was the last release with this provider type"}},
		{[]string{"--provider", "vllm"}, []string{`--endpoint: required for provider "vllm"`}},
		{[]string{"--provider", "vllm", "--endpoint", "vllm:8000"}, []string{`--endpoint: spec.providers.inference.endpoint: "vllm:8000" does not begin with http:// or https://`}},
		{[]string{"--provider", "vllm", "--endpoint", "http://me:secret-value@vllm"}, []string{"--endpoint: spec.providers.inference.endpoint: ", "contains a user name or password"}},
		{[]string{"--provider", "anthropic", "--endpoint", "http://a", "--secret", "a/b"}, []string{"--endpoint: spec.providers.inference.endpoint: remote::anthropic does not accept an endpoint"}},
		{[]string{"--provider", "openai"}, []string{`--secret: required for provider "openai"`, "openai-creds/api-key"}},
		{append(vllm, "--secret", "sk-secret-value"), []string{"--secret: the value must be the name and the key of a Secret, as NAME/KEY"}},
		{append(vllm, "--setting", "max_tokns=1"), []string{
			`--setting: "max_tokns" is not a valid value; use one of `,
			`did you mean "max_tokens"?`,
		}},
		{append(vllm, "--setting", "api_token=secret-value"), []string{`--setting: "api_token" is a credential; set --secret to a Secret`}},
		{append(vllm, "--setting", "max_tokens=many"), []string{"--setting: spec.providers.inference.settings.max_tokens: must be a whole number"}},
		{[]string{"--provider", "vertexai"}, []string{`--setting: spec.providers.inference.settings: required: remote::vertexai does not start without the key "project"`}},
		{append(vllm, "--store", "postgresql"), []string{`--store: "postgresql" is not a valid value; use one of none, sqlite, postgres, redis; did you mean "postgres"?`}},
		{append(vllm, "--store", "none", "--volume-size", "1Gi"), []string{"--volume-size: has no effect with --store none; remove --volume-size, or set --store sqlite or redis"}},
		{append(vllm, "--volume-size", "big"), []string{`--volume-size: spec.workload.storage.size: "big" is not a quantity`}},
		{append(vllm, "--release", "0.77"), []string{`--release: spec.distribution.version: distribution "starter" has no version "0.77"; use one of the known versions: `}},
		{append(vllm, "--distribution", "startr"), []string{
			`--distribution: spec.distribution.name: unknown distribution "startr"; known distributions: `,
		}},
		{append(vllm, "--distribution", "remote-vllm", "--release", "1.5"), []string{`--release: spec.distribution.version: distribution "remote-vllm" has no version "1.5"; use one of the known versions: 0.2`}},
		{append(vllm, "--expose", "https://a.example.com"), []string{`--expose: spec.networking.expose.hostname: "https://a.example.com" is not a host name`}},
		{append(vllm, "-n", "Team"), []string{`--namespace: "Team" is not a valid namespace`}},
	} {
		got := run(t, "", append([]string{"init"}, tc.args...)...)
		got.refuses(t, 2, tc.want...)
		if strings.Contains(got.err, "secret-value") {
			t.Errorf("%q: a message contains a credential: %s", tc.args, got.err)
		}
	}
}

// The command reads the answers from standard input, one answer per line. It repeats a question after an invalid
// answer, and uses the default for an empty answer.
func TestInitAsks(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, tc := range map[string]struct {
		lines []string
		file  string
		want  []string
	}{
		"defaults": {make([]string, 10), "my-stack.yaml", []string{
			"name: my-stack\n", "provider: vllm\n", "endpoint: http://vllm:8000\n",
			"size: 10Gi\n",
		}},
		"answers": {
			[]string{
				"chat", "9.9", "1.5", "opnai", "openai", "", "", "gpt-x, gpt-y", "redis", "", "redis/password", "5Gi",
				"llama.example.com", "out.yaml",
			},
			"out.yaml",
			[]string{"name: chat\n", `version: "1.5"`, "provider: openai\n", "name: openai-creds, key: api-key", "- gpt-x\n      - gpt-y\n", "endpoint: redis:6379\n", "size: 5Gi\n", "hostname: llama.example.com\n"},
		},
		"required setting": {
			[]string{"vertex", "", "vertexai", "", "", "my-project", "", "none", "", "vertex.yaml"},
			"vertex.yaml",
			[]string{"settings:\n        project: my-project\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, strings.Join(append(tc.lines, ""), "\n"), "init")
			if got.code != 0 || got.out != "" {
				t.Fatalf("exit code %d, output %q\n%s", got.code, got.out, got.err)
			}
			data, err := os.ReadFile(tc.file)
			if err != nil {
				t.Fatalf("%v\n%s", err, got.err)
			}
			contains(t, string(data), tc.want...)
			contains(t, got.err, "ok: "+tc.file, "kubectl apply -f "+tc.file)
			run(t, "", "validate", "-f", tc.file).exits(t, 0, "validate")
		})
	}
}

// The command repeats the questions for the models and for the file after an invalid answer, and prints commands that a
// shell reads as they are.
func TestInitAsksAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	testutil.Must(t, os.WriteFile("taken.yaml", nil, 0o600))
	lines := []string{"", "", "", "", "1.5/2", "${env.X}", "m", "", "", "", "taken.yaml", "none/a.yaml", "my stack.yaml"}
	got := run(t, strings.Join(lines, "\n")+"\n", "init")
	got.mustExit(t, 0)
	contains(t, got.err, "--model: ", `--output: "taken.yaml" already exists`, "--output: stat none: ",
		"kubectl apply -f 'my stack.yaml'\n")
	data, err := os.ReadFile("my stack.yaml")
	testutil.Must(t, err)
	contains(t, string(data), `secretKeyRef: {name: "1.5", key: "2"}`)
	if asked := run(t, "", "init", "-o", "taken.yaml"); strings.Contains(asked.err, "Name of the stack") {
		t.Errorf("the command asked a question before it reported the existing file:\n%s", asked.err)
	}
}

// If the input ends before the answer to the last question, the command fails and writes no file. It does not use the
// defaults.
func TestInitInputEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, tc := range map[string]struct {
		in, question string
		args         []string
	}{
		"no input":           {"", "Name of the stack", nil},
		"name in arguments":  {"", "Server release: ", []string{"my-stack"}},
		"a required setting": {"x\n\nvertexai\n\n\n", "Setting project", nil},
		"an invalid answer":  {"x\n9.9\n", "Server release: ", nil},
		"no models":          {"\n\n\n\n\n", "Models, ", nil},
		"no file":            {strings.Repeat("\n", 9), "File to write, ", nil},
		"a file in a flag":   {"\n", "Server release: ", []string{"-o", "stack.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.in, append([]string{"init"}, tc.args...)...)
			got.refuses(t, 2, `standard input ended before you answered the question "`+tc.question,
				"or set flags: see kubectl llamastack init --help")
			if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
				t.Errorf("the command wrote %v, %v", files, err)
			}
		})
	}
	// The last answer does not need a line break.
	run(t, strings.Repeat("\n", 9)+"stack.yaml", "init").exits(t, 0, "complete input without a last line break")
}

// The command overwrites a file only with --force.
func TestInitFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stack.yaml")
	args := []string{"init", "--provider", "ollama", "--endpoint", "http://ollama:11434", "-o", file}
	for _, tc := range []struct {
		more []string
		code int
		want string
	}{
		{nil, 0, "ok: " + file},
		{nil, 2, fmt.Sprintf("--output: %q already exists; specify another file, or use --force to overwrite the existing file", file)},
		{[]string{"--force"}, 0, "ok: " + file},
		{[]string{"--force", "-o", filepath.Join(file, "x")}, 2, "--output: "},
	} {
		run(t, "", append(slices.Clone(args), tc.more...)...).refuses(t, tc.code, tc.want)
	}
}
