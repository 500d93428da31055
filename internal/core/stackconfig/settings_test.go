package stackconfig_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// The settings that are allowed depend on the release that reads them.
func TestSettingsOfOtherReleases(t *testing.T) {
	for name, tc := range map[string]struct{ line, spec, want string }{
		"a removed key": {
			"1.0", "settings: {server: {cors: true}}",
			"spec.settings.server.cors: server release 1.0 does not support server.cors and ignores it; release 0.8 was the last release with this section; " +
				"answer CORS requests in the ingress or gateway",
		},
		"a removed section": {
			"1.2", "settings: {safety: {default_shield_id: guard}}",
			"spec.settings.safety: server release 1.2 does not support safety and ignores it; release 0.8 was the last release with this section; check text",
		},
		"a default shield without shields": {
			"0.7", "settings: {safety: {default_shield_id: guard}}",
			`no shields are registered, so requests that use this default fail until a client registers "guard"; add "guard" to spec.resources.shields`,
		},
		"a key that a field has set": {
			"0.3", "disabled: [telemetry]\n  settings: {telemetry: {enabled: true}}",
			"spec.settings.telemetry.enabled: is also set by spec.disabled[0]; keep one of them",
		},
		"removing a key that a field has set": {
			"0.3", "disabled: [telemetry]\n  removeSettings: [telemetry]",
			`spec.removeSettings[0]: "telemetry" is set by spec.disabled[0] and cannot be removed here; remove this entry from removeSettings`,
		},
		"API keys of clients": {
			"1.4", "secretEnv: {CLIENT: {secretKeyRef: {name: c, key: k}}}\n" +
				"  settings: {server: {auth: {provider_config: {type: local_api_key, api_keys: ['${env.CLIENT}']}}}}",
			"      api_keys:\n      - ${env.CLIENT}\n",
		},
		"API keys of clients in clear text": {
			"1.4", "settings: {server: {auth: {provider_config: {type: local_api_key, api_keys: [abc]}}}}",
			"spec.settings.server.auth.provider_config.api_keys: is a credential in clear text",
		},
		"a default shield without its API": {
			"0.8", "disabled: [safety]\n  settings: {safety: {default_shield_id: guard}}",
			"spec.settings.safety.default_shield_id: requires the API safety; add a provider to spec.providers.safety",
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, told := generateFor(t, tc.line, tc.spec)
			if result != nil {
				told += string(result.Config)
			}
			if !strings.Contains(told, tc.want) {
				t.Errorf("the result does not contain %q:\n%s", tc.want, told)
			}
		})
	}
}

// In release 0.7.3, a default shield requires the safety API only if the configuration lists APIs.
func TestDefaultShieldWithoutItsAPI(t *testing.T) {
	const spec = "settings: {safety: {default_shield_id: guard}}"
	base := []byte("distro_name: d\nproviders: {inference: [{provider_id: openai, provider_type: 'remote::openai', config: {}}]}\n")
	if result, report := generate(t, spec, base); result == nil {
		t.Errorf("a configuration without a list of APIs is rejected: %s", intent.Messages(report.Errors))
	}
	_, report := generate(t, spec, append(base, "apis: [inference]\n"...))
	want := "spec.settings.safety.default_shield_id: requires the API safety; add a provider to spec.providers.safety"
	if got := intent.Messages(report.Errors); got != want {
		t.Errorf("with a list of APIs, the errors are %q", got)
	}
}

// A variable exists when any part of the spec sets it.
func TestVariablesOfSettings(t *testing.T) {
	const settings = "\nsettings: {server: {auth: {provider_config: {type: custom, endpoint: 'http://a/${env.NAME}'}}}}"
	for spec, want := range map[string]bool{
		"workload: {workers: 1}":                                          false,
		"secretEnv: {NAME: {secretKeyRef: {name: a, key: b}}}":            true,
		"secretEnv: {OTHER: {secretKeyRef: {name: a, key: b}}}":           false,
		"workload: {overrides: {env: [{name: NAME, value: x}]}}":          true,
		"workload: {overrides: {env: [{name: NAME}]}}":                    false,
		"workload: {overrides: {envFrom: [{configMapRef: {name: any}}]}}": true,
	} {
		result, report := generate(t, spec+settings, sharedBase(t))
		if (result != nil) != want {
			t.Errorf("%s: %s", spec, intent.Messages(report.Errors))
		}
	}
	for _, name := range []string{"LLSD_VLLM_API_KEY", "HF_HOME", "LLAMA_STACK_PORT"} {
		spec := "providers: {inference: {provider: vllm, endpoint: 'http://v', apiKey: {secretKeyRef: {name: v, key: t}}}}" +
			strings.ReplaceAll(settings, "NAME", name)
		if result, report := generate(t, spec, sharedBase(t)); result == nil {
			t.Errorf("%s: %s", name, intent.Messages(report.Errors))
		}
	}
}

// TextVariables returns the variables of keys that accept only text.
func TestTextVariables(t *testing.T) {
	in := readIntent(t, []byte(`
metadata: {name: demo}
spec:
  settings:
    server:
      cors: {max_age: "${env.AGE}", allow_origins: ["${env.ORIGIN}", "${env.HALF}/x", "${env.DEFAULT:=1}"]}
      auth: {provider_config: {type: oauth2_token,
        introspection: {url: u, client_id: "${env.ID}", client_secret: "${env.SECRET}"}}}
    unknown: {key: "${env.ANY}"}
`))
	want := []string{"ID", "ORIGIN", "SECRET"}
	if got := stackconfig.TextVariables(&in.Settings, release.Default()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := stackconfig.TextVariables(&intent.Settings{}, release.Default()); got != nil {
		t.Errorf("without settings, got %v", got)
	}
}
