package plan_test

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

const vllm = "providers: {inference: {provider: vllm, endpoint: \"http://vllm:8000\"}}\n"

// buildRefusesCases are the cases of TestBuildRefuses.
var buildRefusesCases = map[string]struct {
	spec              string
	change            func(*plan.Input)
	condition, reason string // ConfigGenerated and ConfigGenerationFailed if they are empty
	message           string
}{
	"a resource without its provider": {
		spec:    vllm + "resources: {models: [{name: m, provider: vllm-primary}]}\n",
		reason:  v1alpha2.ReasonMissingProviderForResource,
		message: `spec.resources.models[0].provider: "vllm-primary" is not a configured inference provider`,
	},
	"an unknown provider type": {
		spec:    "providers: {inference: {provider: vlm}}\n",
		message: "spec.providers.inference",
	},
	"both": {
		spec:    "providers: {inference: {provider: vlm}}\nresources: {models: [{name: m, provider: nobody}]}\n",
		message: "spec.providers.inference",
	},
	"a spec that the earlier release accepted": {
		spec:    "providers: {inference: {provider: vlm}}\n",
		change:  func(in *plan.Input) { in.Running.Record.Distribution.Release = "0.6" },
		reason:  v1alpha2.ReasonUpgradeConfigFailure,
		message: "spec.providers.inference",
	},
	"the same release": {
		spec:    "providers: {inference: {provider: vlm}}\n",
		change:  func(in *plan.Input) { in.Running.Record.Distribution.Release = "0.7" },
		message: "spec.providers.inference",
	},
	"an image without a base": {
		spec:   "distribution: {image: \"registry.example.com/mine:1\"}\n" + vllm,
		reason: v1alpha2.ReasonMissingConfigLabels,
		message: "Distribution image registry.example.com/mine:1 missing config labels. Add labels using `crane mutate` or " +
			"use `overrideConfig` to provide configuration manually. See docs/configuration.md for details.",
	},
	"a directory from a Secret": {
		spec:      vllm + "workload: {storage: {}}\nsecretEnv: {SQLITE_STORE_DIR: {secretKeyRef: {name: a, key: b}}}\n",
		condition: v1alpha2.ConditionValidationSucceeded, reason: v1alpha2.ReasonInvalidSpec,
		message: `spec.secretEnv[SQLITE_STORE_DIR]: "SQLITE_STORE_DIR" is set by the operator: use another name, or set the variable in spec.workload.overrides.env`,
	},
	"the trusted certificates from a Secret": {
		spec:      vllm + "secretEnv: {SSL_CERT_FILE: {secretKeyRef: {name: a, key: b}}}\n",
		change:    func(in *plan.Input) { in.Trust.Own = [][]byte{} },
		condition: v1alpha2.ConditionValidationSucceeded, reason: v1alpha2.ReasonInvalidSpec,
		message: `spec.secretEnv[SSL_CERT_FILE]: "SSL_CERT_FILE" is set by the operator`,
	},
	"a base of an unknown version": {
		spec:    vllm,
		change:  func(in *plan.Input) { in.Base.Data = []byte("version: 3\nproviders: {}\n") },
		reason:  v1alpha2.ReasonUnsupportedConfigVersion,
		message: "Unsupported config.yaml version 3. Supported versions: 1, 2",
	},
	"a base that is not YAML": {
		spec:    vllm,
		change:  func(in *plan.Input) { in.Base.Data = []byte("{") },
		message: "is not YAML",
	},
	"a base that is too large": {
		spec:    vllm,
		change:  func(in *plan.Input) { in.Base.Data = make([]byte, 10<<20) },
		message: "786432",
	},
	"an override that is not YAML": {
		spec:    "overrideConfig: {configMapName: mine, key: server.yaml}\n",
		change:  func(in *plan.Input) { in.Override.Data = []byte("version: [\n") },
		message: `is not YAML`,
	},
	"an override in which the workers cannot be set": {
		spec:    "overrideConfig: {configMapName: mine, key: server.yaml}\nworkload: {workers: 2}\n",
		change:  func(in *plan.Input) { in.Override.Data = []byte("server: 1\n") },
		message: `ConfigMap "mine", key "server.yaml": `,
	},
	"an override that is too large to copy": {
		spec: "overrideConfig: {configMapName: mine, key: server.yaml}\nworkload: {workers: 2}\n",
		change: func(in *plan.Input) {
			in.Override.Data = []byte("a: " + strings.Repeat("x", 1<<20) + "\n")
		},
		message: "generated configuration has",
	},
}

func TestBuildRefuses(t *testing.T) {
	for name, tc := range buildRefusesCases {
		t.Run(name, func(t *testing.T) {
			in := input(t, tc.spec)
			if tc.change != nil {
				tc.change(&in)
			}
			built, err := plan.Build(in)
			var refused *plan.ConfigError
			if !errors.As(err, &refused) || built != nil {
				t.Fatalf("plan returned: %v; error %v", built != nil, err)
			}
			if refused.Condition != cmp.Or(tc.condition, v1alpha2.ConditionConfigGenerated) ||
				refused.Reason != cmp.Or(tc.reason, v1alpha2.ReasonConfigGenerationFailed) {
				t.Errorf("condition %s, reason %s", refused.Condition, refused.Reason)
			}
			if !strings.Contains(err.Error(), tc.message) {
				t.Errorf("message %q, want %q in it", err, tc.message)
			}
			if (len(refused.Errors) == 0) == (refused.Err == nil) {
				t.Errorf("the error has both fields and another cause, or neither: %+v", refused)
			}
		})
	}
}

// An override that was not read, or a spec that was not decoded, is a defect in the caller and not a user error.
func TestBuildNeedsItsInput(t *testing.T) {
	for name, forget := range map[string]func(*plan.Input){
		"override": func(in *plan.Input) { in.Override = nil },
		"intent":   func(in *plan.Input) { in.Intent = nil },
	} {
		in := input(t, "overrideConfig: {configMapName: mine}\n")
		forget(&in)
		_, err := plan.Build(in)
		var refused *plan.ConfigError
		if err == nil || errors.As(err, &refused) {
			t.Errorf("without the %s: error %v", name, err)
		}
	}
}

func TestWarningsOnTheRelease(t *testing.T) {
	const rest = "disabled: [eval]\nbaseConfig: {configMapName: base}\n"
	base := input(t, rest).Base
	for name, tc := range map[string]struct{ distribution, want string }{
		"known":        {"distribution: {name: starter}\n", ""},
		"known by tag": {"distribution: {image: \"example.com/mine:0.7.3\"}\n", ""},
		"near":         {"distribution: {image: \"example.com/mine:0.7.99\"}\n", "the operator has no data for server release 0.7.99, so it configures the server with the data for release 0.7.3; if the server does not start, use release 0.7.3 or upgrade the operator"},
		"unknown": {
			"distribution: {image: \"example.com/mine:latest\"}\n",
			`the server release of image "example.com/mine:latest" is unknown, so the operator configures the server as release 0.7; ` +
				"to specify the release, set the label io.llamastack.server.version on the image",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, tc.distribution+rest)
			in.Base = base
			built := build(t, in)
			var found string
			for _, warning := range built.Warnings {
				if warning.Path == "spec.distribution" {
					found = warning.Message
				}
			}
			if found != tc.want {
				t.Errorf("warning %q, want %q", found, tc.want)
			}
			ports := strings.Count(strings.Join(environment(container(t, built)), " "), "_PORT=8321")
			if told := name == "known"; told == (ports == 3) { // LLS_PORT and the variables of both server names
				t.Errorf("%d variables with the port", ports)
			}
		})
	}
}
