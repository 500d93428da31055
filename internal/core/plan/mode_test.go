package plan_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

func TestModeOf(t *testing.T) {
	for spec, want := range map[string]plan.Mode{
		"{}": plan.ModeImageDefault,
		"networking: {port: 9000}\nworkload: {workers: 1, replicas: 3, storage: {}}":     plan.ModeImageDefault,
		"secretEnv: {A: {secretKeyRef: {name: a, key: b}}}":                              plan.ModeImageDefault,
		"networking: {expose: true, allowedFrom: {namespaces: ['*']}}":                   plan.ModeImageDefault,
		"providers: {inference: {provider: vllm}}":                                       plan.ModeGenerated,
		"resources: {models: [a]}":                                                       plan.ModeGenerated,
		"storage: {kv: {}}":                                                              plan.ModeGenerated,
		"disabled: [eval]":                                                               plan.ModeGenerated,
		"settings: {server: {quota: {}}}":                                                plan.ModeGenerated,
		"removeSettings: [server.quota]":                                                 plan.ModeGenerated,
		"externalProviders: {inference: [{providerId: a, image: b}]}":                    plan.ModeGenerated,
		"baseConfig: {configMapName: a}":                                                 plan.ModeGenerated,
		"workload: {workers: 2}":                                                         plan.ModeGenerated,
		"overrideConfig: {configMapName: a}":                                             plan.ModeOverride,
		"overrideConfig: {configMapName: a}\nworkload: {workers: 2}":                     plan.ModeOverride,
		"overrideConfig: {configMapName: a}\nnetworking: {port: 9000}":                   plan.ModeOverride,
		"overrideConfig: {configMapName: a}\nproviders: {inference: {provider: vllm}}\n": plan.ModeOverride,
	} {
		var decoded v1alpha2.LlamaStackDistributionSpec
		if err := yaml.UnmarshalStrict([]byte(spec), &decoded); err != nil {
			t.Fatal(err)
		}
		if got := plan.ModeOf(&decoded); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
		if got := plan.NeedsBase(&decoded); got != (want == plan.ModeGenerated) {
			t.Errorf("%s: needs a base: %v", spec, got)
		}
	}
}
