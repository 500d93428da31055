//go:build server

package realserver

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const unknownStack = `
metadata: {name: demo, namespace: default, uid: 1b671a64-40d5-491e-99b0-da01ff1f3341}
spec:
  distribution: {image: "registry.example.com/own/server@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
  baseConfig: {configMapName: base, key: config.yaml}
  providers:
    inference:
    - {id: vllm, provider: vllm, endpoint: "http://127.0.0.1:9", apiKey: {secretKeyRef: {name: creds, key: vllm}}}
    - {id: groq, provider: groq, endpoint: "http://127.0.0.1:9"}
  resources: {models: [llama3.2-8b]}
`

const unknownBase = "version: 2\napis: [inference]\nproviders: {inference: []}\n"

// TestUnknownRelease shows that every release since 0.3 starts with the configuration that the operator writes for an
// image of an unknown release. The configuration of 0.2 has different fields for the storage and the models.
func TestUnknownRelease(t *testing.T) {
	var stack v1alpha2.LlamaStackDistribution
	if err := yaml.UnmarshalStrict([]byte(unknownStack), &stack); err != nil {
		t.Fatal(err)
	}
	resolved, err := distribution.Resolve("", stack.Spec.Distribution.Image, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	in, _ := intent.FromObject(&stack)
	built, err := plan.Build(plan.Input{
		Object: &stack, Intent: in, Distribution: resolved,
		Base: &plan.Base{Data: []byte(unknownBase), Source: v1alpha2.ConfigSourceConfigMap},
	})
	if err != nil {
		t.Fatal(err)
	}
	support, err := InstallSupport(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range release.Lines() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		if match.Release.Storage.Inline {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			checker, err := NewChecker(t.Context(), match.Release.Version, support)
			if err != nil {
				t.Fatal(err)
			}
			defer checker.Close()
			verdict, err := checker.Check(t.Context(), Request{
				Tier: Initialize, Config: string(built.Config), Env: map[string]string{"LLSD_VLLM_API_KEY": "some-token"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if !verdict.OK {
				t.Fatalf("%s: %v", match.Release.Version, verdict)
			}
			if err := checker.Keep(verdict); err != nil {
				t.Error(err)
			}
		})
	}
}
