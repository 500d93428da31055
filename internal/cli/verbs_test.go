package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

func contains(t *testing.T, got string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// fields returns the words of the table line that begins with the given words.
func fields(t *testing.T, table string, begin ...string) []string {
	t.Helper()
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) >= len(begin) && strings.Join(words[:len(begin)], " ") == strings.Join(begin, " ") {
			return words
		}
	}
	t.Fatalf("no line begins with %q in\n%s", begin, table)
	return nil
}

func TestProviders(t *testing.T) {
	got := run(t, "", "providers", "--release", "0.7", "--api", "inference")
	got.mustExit(t, 0)
	if line := fields(t, got.out, "inference", "remote::vllm"); strings.Join(line[2:4], " ") != "base_url api_token" {
		t.Errorf("the line of vllm is %q", line)
	}
	if strings.Contains(got.out, "vectorIo") {
		t.Errorf("the output contains other APIs:\n%s", got.out)
	}
	one := run(t, "", "providers", "vllm", "--release", "0.3")
	contains(t, one.out, "endpoint is:  url", "apiKey is:    api_token")
	if line := fields(t, one.out, "api_token"); line[len(line)-2] != "yes" {
		t.Errorf("the token is not marked as a secret: %q", line)
	}
	// The name matches both types. The operator supplies values for some of their keys.
	// The --api flag accepts the name that the spec uses for an API, and the name that the server uses.
	for _, api := range []string{"vectorIo", "vector_io"} {
		two := run(t, "", "providers", "milvus", "--api", api)
		contains(t, two.out, "inline::milvus", "remote::milvus", "supplied")
	}
	contains(t, run(t, "", "providers", "--release", "0.7", "--api", "vectorIo").out, "deprecated: Please use the")

	var listed []struct{ API, Type string }
	testutil.Must(t, json.Unmarshal([]byte(run(t, "", "providers", "--release", "1.5", "-o", "json").out), &listed))
	match, err := release.Lookup("1.5")
	testutil.Must(t, err)
	count := 0
	for _, api := range match.Release.APIs() {
		count += len(match.Release.ProviderTypes(api))
	}
	if len(listed) != count || count == 0 {
		t.Errorf("%d types listed, the release has %d", len(listed), count)
	}
}

func TestProvidersRefuses(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--api", "safety", "--release", "1.5"}, `server release 1.5 has no API "safety" with providers; release 0.8 was the last release with this API; check text`},
		{[]string{"--api", "inferense"}, `did you mean "inference"?`},
		{[]string{"vlm"}, `has no provider type "vlm"; did you mean "remote::vllm"?`},
		{[]string{"tgi"}, `has no provider type "tgi"; use one of the releases with this type: 0.2, 0.3, 0.4, 0.5, 0.6`},
		{[]string{"torchtune-cpu"}, `has no provider type "torchtune-cpu"; use one of the releases with this type: 0.2, 0.3, 0.4, 0.5, 0.6`},
		{[]string{"neo4"}, `has no provider type "neo4"; "remote::neo4j" exists in these releases: 1.3, 1.4, 1.5`},
		{[]string{"vllm", "--api", "safety"}, `has no provider type "vllm"; to list the types, run kubectl llamastack providers --release 0.7`},
		{[]string{"--api", "messages"}, `has no API "messages" with providers; use release 0.8, the first release with this API`},
		{[]string{"--release", "9.9"}, `--release: unknown server release "9.9"; known release lines: 0.2`},
		{[]string{"-o", "xml"}, `--output: "xml" is not a valid value; use one of table, json, yaml`},
	} {
		got := run(t, "", append([]string{"providers"}, tc.args...)...)
		got.refuses(t, 2, tc.want)
	}
}

func TestRenderExplain(t *testing.T) {
	got := run(t, stack(simple), "render", "-f", "-", "--explain")
	got.mustExit(t, 0)
	line := fields(t, got.out, "registered_resources.models[0].model_id")
	if line[1] != "m" || line[2] != "spec.resources.models[0]" {
		t.Errorf("the line of the model is %q", line)
	}
	var values []struct{ Path, Value, Origin string }
	explained := run(t, stack(simple), "render", "-f", "-", "--explain", "-o", "json")
	testutil.Must(t, json.Unmarshal([]byte(explained.out), &values))
	config := run(t, stack(simple), "render", "-f", "-", "-o", "config").out
	for _, value := range values {
		if value.Path == "" || value.Origin == "" || !strings.Contains(config, strings.SplitN(value.Value, "\n", 2)[0]) {
			t.Errorf("%+v is not a value of the configuration", value)
		}
	}
	if len(values) < 100 {
		t.Errorf("%d values explained", len(values))
	}
	run(t, stack(simple), "render", "-f", "-", "--explain", "-o", "config").exits(t, 2, "--explain -o config")
	// The spec does not change the configuration, so the operator generates no configuration.
	contains(t, run(t, stack("{distribution: {name: starter}}"), "render", "-f", "-", "--explain").out,
		"generates no configuration")
}

func TestRenderRelease(t *testing.T) {
	line := release.DefaultLine()
	got := run(t, stack(simple), "render", "-f", "-", "-o", "config", "--release", line)
	got.mustExit(t, 0)
	contains(t, got.out, "# Server release: "+line)
	run(t, stack(simple), "render", "-f", "-", "--release", "9.9").refuses(t, 2, `"9.9"`)
}

// If the model name in the spec is not the name that clients must use, a note reports the name for clients.
// upgrade-check reports a release that changes the name for clients.
func TestPublicModels(t *testing.T) {
	const spec = `{distribution: {name: starter, version: "0.7"}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}},
  resources: {models: [llama, {name: fast, providerModelId: meta/llama-70b}]}}`
	for _, verb := range []string{"render", "validate"} {
		contains(t, run(t, stack(spec), verb, "-f", "-").err,
			`note: standard input: demo: spec.resources.models[0]: clients use the name "vllm/llama" for this model`,
			`note: standard input: demo: spec.resources.models[1]: clients use the name "vllm/meta/llama-70b" for this model`,
			`spec.resources.models[1].name: server release 0.7 ignores this name because providerModelId is set`)
	}
	got := run(t, stack(spec), "upgrade-check", "-f", "-", "--to", "1.0")
	contains(t, got.out, "~ model fast: vllm/meta/llama-70b -> vllm/fast\n")
}

// A note names the data that only the image of an external provider contains, and states when the operator or the pod
// reads the data.
func TestExternalProviders(t *testing.T) {
	const note = `externalProviders.inference[0]: this command does not read image "r/a:1", so it does not check provider "openai"; ` +
		`in a cluster, the operator checks the provider's type, module and API if the image has the label io.llamastack.provider; ` +
		`otherwise, the pod checks them when it starts; the pod also checks that the provider's package is compatible with the server`
	const external = `externalProviders: {inference: [{providerId: openai, image: "r/a:1", config: {a: 1}}]}`
	for _, verb := range []string{"render", "validate"} {
		got := run(t, stack("{distribution: {name: starter}, "+external+"}"), verb, "-f", "-")
		got.exits(t, 0, verb)
		contains(t, got.err, "note: standard input: demo: spec."+note,
			`warning: standard input: demo: spec.externalProviders.inference[0].providerId: the external provider "openai" replaces the configuration's own provider of type remote::openai`)
	}
	older := strings.Replace(stack("{server: {distribution: {name: starter}, "+external+"}}"), "v1alpha2", "v1alpha1", 1)
	contains(t, run(t, older, "validate", "-f", "-").err, "note: standard input: demo: spec.server."+note)
	config := run(t, stack("{distribution: {name: starter}, "+external+"}"), "render", "-f", "-", "-o", "config").out
	contains(t, config, "  - provider_id: openai\n    provider_type: external::unknown\n    config:\n      a: 1\n")
	explained := run(t, stack("{distribution: {name: starter}, "+external+"}"), "render", "-f", "-", "--explain").out
	contains(t, explained, "spec.externalProviders.inference[0].image")
}

func TestUpgradeCheck(t *testing.T) {
	line := release.DefaultLine()
	match, err := release.Lookup(line)
	testutil.Must(t, err)
	got := run(t, stack(simple), "upgrade-check", "-f", "-", "--to", match.Release.Version)
	got.mustExit(t, 0)
	contains(t, got.out, "demo: "+line+" to "+match.Release.Version+": starts")
	contains(t, got.out, "needs action: nothing", " -> docker.io/ogxai/distribution-starter:"+match.Release.Version+"\n")
	same := run(t, stack(simple), "upgrade-check", "-f", "-", "--from", match.Release.Version, "--to",
		match.Release.Version, "-o", "json")
	var upgrades []struct {
		Stack   string
		Boots   bool
		Changes []any
	}
	if err := json.Unmarshal([]byte(same.out), &upgrades); err != nil || len(upgrades) != 1 || !upgrades[0].Boots ||
		len(upgrades[0].Changes) > 0 {
		t.Errorf("a release compared with itself: %v, %s", err, same.out)
	}
	unknown := run(t, stack(simple), "upgrade-check", "-f", "-", "--to", "9.9")
	unknown.exits(t, 1)
	contains(t, unknown.out, "would not start", "(prevents the upgrade)", `"9.9"`)
	contains(t, unknown.err, "1 of 1 stacks would not start on release 9.9")
}

// TestDocumentation compares the pages in docs/reference/cli with the actual commands and flags.
func TestDocumentation(t *testing.T) {
	const folder = "../../docs/reference/cli/"
	index := golden.Read(t, folder+"README.md")
	for _, verb := range leaves(cli.NewCommand(cli.Streams{}, "test")) {
		file := strings.ReplaceAll(verb, " ", "-") + ".md"
		page := golden.Read(t, folder+file)
		contains(t, string(index), "[`"+verb+"`]("+file+")")
		contains(t, string(page), "# "+verb+"\n", "## Exit codes\n")
		text := run(t, "", append(strings.Fields(verb), "--help")...).out
		help, connection, _ := strings.Cut(text, "Flags for the connection:")
		for text, page := range map[string][]byte{help: page, connection: index} {
			for word := range strings.FieldsSeq(text) {
				if flag := strings.TrimRight(word, ",.:"); strings.HasPrefix(flag, "--") && flag != "--color" {
					contains(t, string(page), flag)
				}
			}
		}
	}
}
