package stackconfig_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// laughs returns a few lines with aliases of aliases, which expand to billions of values.
func laughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n")
	for i := 1; i < 10; i++ {
		line := strings.ReplaceAll("aN: &aN [*aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM]\n", "N", string(rune('0'+i)))
		b.WriteString(strings.ReplaceAll(line, "M", string(rune('0'+i-1))))
	}
	return b.String()
}

// A null or missing section counts as empty, and Generate returns a configuration that can be parsed.
func TestSmallBases(t *testing.T) {
	in := readIntent(t, largeObject())
	for _, text := range []string{
		"version: 2\n", "version: '1'\n", "version: null\n", "{}", "providers:\n", "providers: {inference: }\napis:\n",
		"storage:\n", "storage: {backends: , stores: }\n", "registered_resources: {models: }\n",
		"server: \nsafety: \nconnectors: \n",
		"\ufeffversion: 2\n", "apis: []\nproviders: {inference: [{provider_id: '${env.A', provider_type: x}]}\n",
	} {
		base := parseBase(t, []byte(text))
		result, report := stackconfig.Generate(stackconfig.Input{Intent: in, Base: base, Release: release.Default()})
		if result == nil {
			t.Errorf("%q: %s", text, intent.Messages(report.Errors))
			continue
		}
		if _, err := baseconfig.Parse(result.Config); err != nil {
			t.Errorf("%q: the result does not parse: %v", text, err)
		}
	}
}
