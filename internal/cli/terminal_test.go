package cli_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
)

// On a terminal, messages are grouped by stack, with the remedy first and short lists, and no line is too long.
func TestMessagesOnTerminal(t *testing.T) {
	const models = `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://v"}}, resources: {models: [`
	const want = `standard input: demo
  error spec.resources.models[0].provider
    -> did you mean "ollama"?
    "olama" is not a configured inference provider
  error spec.resources.models[1].provider
    "qwertz" is not a configured inference provider; available: vllm, cerebras,
    ollama, fireworks, together and 11 more
standard input: other
  error spec.disabled[0]
    -> did you mean "inference"?
    "infrence" is not an API of any server release
nothing was rendered
`
	manifest := stack(models+"{name: a, provider: olama}, {name: b, provider: qwertz}]}}") + "---\n" +
		strings.Replace(stack("{distribution: {name: starter}, disabled: [infrence]}"), "name: demo", "name: other", 1)
	got := runStreams(t, cli.Streams{MessageWidth: 80}, manifest, "render", "-f", "-")
	if diff := cmp.Diff(want, got.err); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	shown := runStreams(t, cli.Streams{MessageWidth: 80}, hostile, "validate", "-f", "-")
	for line := range strings.Lines(shown.err) {
		line = strings.TrimSuffix(line, "\n")
		tooLong := utf8.RuneCountInString(line) > 80 && strings.Contains(line[4:], " ")
		if tooLong || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("line %q", line)
		}
	}
}
