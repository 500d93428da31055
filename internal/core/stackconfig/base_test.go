package stackconfig_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

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
