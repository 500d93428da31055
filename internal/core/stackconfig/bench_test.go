package stackconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// largeObject has ten providers and twenty models.
func largeObject() []byte {
	var b strings.Builder
	b.WriteString("apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: large}\n" +
		"spec:\n  distribution: {name: starter}\n  providers:\n    inference:\n")
	for i := range 10 {
		fmt.Fprintf(&b, "    - id: vllm-%d\n      provider: vllm\n      endpoint: http://vllm-%d:8000\n"+
			"      apiKey: {secretKeyRef: {name: vllm, key: token-%d}}\n      settings: {max_tokens: %d}\n", i, i, i, 1000+i)
	}
	b.WriteString("  resources:\n    models:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "    - {name: model-%d, provider: vllm-%d, contextLength: 128000}\n", i, i%10)
	}
	return []byte(b.String())
}

// BenchmarkGenerate measures the time to generate the text of a configuration for the starter distribution with ten
// providers and twenty models: from a base that other stacks use too, and from the text of a new base. The goal is 1 ms
// and 300 kB.
func BenchmarkGenerate(b *testing.B) {
	data := starter(b)
	in := readIntent(b, largeObject())
	rel := release.Default()
	for _, known := range []bool{true, false} {
		b.Run(fmt.Sprintf("known=%t", known), func(b *testing.B) {
			b.ReportAllocs()
			text := data
			for i := 0; b.Loop(); i++ {
				if !known {
					text = fmt.Appendf(data, "# %d\n", i) // not in the cache
				}
				base, err := baseconfig.Parse(text)
				if err != nil {
					b.Fatal(err)
				}
				if result, report := stackconfig.Generate(stackconfig.Input{Intent: in, Base: base, Release: rel}); result == nil {
					b.Fatal(report.Errors)
				}
			}
		})
	}
}
