package convert_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

func TestOlderPaths(t *testing.T) {
	for hub, want := range map[string]string{
		"spec.workload.storage.mountPath: \"x\" is not absolute":    "spec.server.storage.mountPath: \"x\" is not absolute",
		"spec.networking.allowedFrom.namespaces[0]: no":             "spec.network.allowedFrom.namespaces[0]: no",
		"spec.providers.inference[1].settings.a: see spec.disabled": "spec.server.providers.inference[1].settings.a: see spec.server.disabled",
		"spec.overrideConfig.configMapName: gone":                   "spec.server.userConfig.configMapName: gone",
		"spec.workload.autoscaling: accepted":                       "spec.server.autoscaling: accepted",
		"spec.networking.expose: accepted":                          "spec.network.exposeRoute: accepted",
		"spec.settings.server: has no counterpart":                  "spec.settings.server of v1alpha2: has no counterpart",
		"spec.overrideConfig.key: no key":                           "spec.server.userConfig.configMapName: no key",
		"set it in workload.overrides.env":                          "set it in server.containerSpec.env",
		"remove providers or overrideConfig":                        "remove providers or server.userConfig",
		"give one with spec.baseConfig, or use overrideConfig;":     "give one with spec.baseConfig of v1alpha2, or use server.userConfig;",
		"spec.workload.overrides.podTemplate.spec.a[0].b: x":        "spec.workload.overrides.podTemplate.spec.a[0].b of v1alpha2: x",
		"spec.networking.expose.hostname: x":                        "spec.networking.expose.hostname of v1alpha2: x",
		"spec.workload.storage.accessModes[1]: x":                   "spec.workload.storage.accessModes[1] of v1alpha2: x",
		"httproutes.gateway.networking.k8s.io":                      "httproutes.gateway.networking.k8s.io",
		"a Deployment's spec.template.spec.containers[0].image":     "a Deployment's spec.template.spec.containers[0].image",
		"a claim's spec.resources.requests.storage: Forbidden":      "a claim's spec.resources.requests.storage: Forbidden",
		"the specification of a thing":                              "the specification of a thing",
	} {
		if got := convert.OlderPaths(hub); got != want {
			t.Errorf("OlderPaths(%q) = %q, want %q", hub, got, want)
		} else if again := convert.OlderPaths(got); again != got {
			t.Errorf("OlderPaths(%q) = %q, want the same", got, again)
		}
	}
}

func TestWarnings(t *testing.T) {
	off := tree{"spec": tree{"server": tree{"autoscaling": tree{"maxReplicas": float64(0)}}}}
	if got := convert.Warnings(off); len(got) != 1 {
		t.Errorf("autoscaling up to 0 replicas: got %q, want one warning", got)
	}
	if got := convert.Warnings(
		tree{"spec": tree{"server": tree{"autoscaling": tree{"maxReplicas": int64(1)}}}}); len(got) != 0 {
		t.Errorf("autoscaling up to 1 replica: got %q, want no warning", got)
	}
}
