package main

import (
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### inference: `remote::vllm`\n\n- `endpoint` sets `base_url`. The operator adds `/v1` to a URL without a path.\n" +
			"- `apiKey` sets `api_token`.\n",
		"| `api_key` | `SecretStr \\| null` | - | yes | - | `OPENAI_API_KEY` |\n",
		"| `project` | `str` | yes | - | - | `VERTEX_AI_PROJECT` |\n",
		"### TLSConfig\n",
	} {
		if !strings.Contains(all["0.7.md"], want) {
			t.Errorf("0.7.md does not contain %q", want)
		}
	}
	for name, text := range all {
		for i, row := range strings.Split(text, "\n") {
			for cell := range strings.SplitSeq(row, " | ") {
				if strings.HasPrefix(row, "|") && len(strings.Fields(cell)) > 40 {
					t.Errorf("%s:%d has a cell of more than 40 words: %s", name, i+1, cell)
				}
			}
		}
	}
}
