package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

const (
	ownConfig = "overrideConfig: {configMapName: mine, key: server.yaml}\n"
	brokenOwn = "distro_name: mine\nproviders: {inference: [{provider_id: a, provider_type: \"remote::vlm\"}]}\n"
	unsetOwn  = "distro_name: ${env.MINE}\nproviders: {}\n"
	// typeError and typeWarning are findings about brokenOwn, and unsetError is the beginning of the one about unsetOwn.
	typeError   = `spec.overrideConfig: providers.inference[0]: "remote::vlm" is not a type of inference provider in release 0.7; did you mean "remote::vllm"?`
	typeWarning = `spec.overrideConfig: providers.inference[0]: "remote::vlm" is not a type of inference provider in %s, so the server starts only if the image adds this type; did you mean "remote::vllm"?`
	unsetError  = "spec.overrideConfig: distro_name: the variable MINE is not set"
)

// An own configuration with which the server certainly does not start is an error. It is a warning if that is not
// certain, and if pods already run with it.
func TestOverrideIsChecked(t *testing.T) {
	image := "distribution: {image: \"example.com/mine:%s\"}\n" + ownConfig
	for name, tc := range map[string]struct {
		spec, config string
		errs         bool
		want         string // prefix of the only finding
	}{
		"an unknown type":                  {ownConfig, brokenOwn, true, typeError},
		"an unknown type, another image":   {strings.Replace(image, "%s", "0.7.1", 1), brokenOwn, false, strings.Replace(typeWarning, "%s", "release 0.7", 1)},
		"an unknown type, unknown release": {strings.Replace(image, "%s", "a", 1), brokenOwn, false, strings.Replace(typeWarning, "%s", "any known release", 1)},
		"no providers, another image":      {strings.Replace(image, "%s", "0.7.1", 1), "distro_name: a\n", true, "spec.overrideConfig: providers: required"},
		"no providers, unknown release":    {strings.Replace(image, "%s", "a", 1), "distro_name: a\n", false, "spec.overrideConfig: providers: required"},
		"a misspelled reference, unknown release": {
			strings.Replace(image, "%s", "a", 1), "distro_name: ${env.mine}\nproviders: {}\n", false,
			`spec.overrideConfig: distro_name: the server does not replace "${env.mine}"; write "${env.MINE}"`,
		},
		"an unset variable":                  {ownConfig, unsetOwn, true, unsetError},
		"a variable of overrides.env":        {ownConfig + "workload: {overrides: {env: [{name: MINE, value: a}]}}\n", unsetOwn, false, ""},
		"an empty variable of overrides.env": {ownConfig + "workload: {overrides: {env: [{name: MINE, value: ''}]}}\n", unsetOwn, true, unsetError},
		"a variable of secretEnv":            {ownConfig + "secretEnv: {MINE: {secretKeyRef: {name: a, key: b}}}\n", unsetOwn, false, ""},
		"a variable of podTemplate": {
			ownConfig + "workload: {overrides: {podTemplate: {spec: {containers: [{name: llama-stack, env: [{name: MINE, value: a}]}]}}}}\n",
			unsetOwn, false, "",
		},
		"a variable of the operator": {ownConfig + "workload: {storage: {}}\n", "distro_name: a\nproviders: {}\nx: ${env.SQLITE_STORE_DIR}\n", false, "spec.overrideConfig: x: unknown"},
		"perhaps a variable of envFrom": {
			ownConfig + "workload: {overrides: {envFrom: [{configMapRef: {name: a}}]}}\n",
			unsetOwn, false, "spec.overrideConfig: distro_name: nothing in the spec sets the variable MINE",
		},
		"a misspelled reference, a user's own command": {
			ownConfig + "workload: {overrides: {command: [server]}}\n", "distro_name: ${env.mine:a}\n", false,
			`spec.overrideConfig: distro_name: the server does not replace "${env.mine:…}"; write "${env.MINE:=…}"`,
		},
		"a user's own command": {ownConfig + "workload: {overrides: {command: [server]}}\n", "providers: nothing of ours\n", false, ""},
	} {
		in := input(t, tc.spec)
		in.Override.Data = []byte(tc.config)
		built, err := plan.Build(in)
		var found []string
		if refused, ok := errors.AsType[*plan.ConfigError](err); ok {
			found = strings.Split(refused.Error(), "\n")
			if refused.Condition != v1alpha2.ConditionConfigGenerated ||
				refused.Reason != v1alpha2.ReasonConfigGenerationFailed {
				t.Errorf("%s: condition %s, reason %s", name, refused.Condition, refused.Reason)
			}
		} else if err != nil {
			t.Fatal(err)
		} else {
			found = lines(built.Warnings)
		}
		found = slices.DeleteFunc(found, func(text string) bool { return !strings.HasPrefix(text, "spec.overrideConfig") })
		if got := strings.Join(found, "\n"); (err != nil) != tc.errs || !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") || len(found) > 1 {
			t.Errorf("%s: error %t, findings %q, want %q", name, err != nil, got, tc.want)
		}
	}
}

// An error in the own configuration of running pods stops nothing. A v1alpha1 stack keeps running with any change that
// affects neither the configuration nor the image.
func TestOverrideOfRunningPods(t *testing.T) {
	record := func(in plan.Input) rollout.Record {
		in.Running.Deployment = &appsv1.Deployment{}
		return build(t, in).Rendered.Record
	}
	more := ownConfig + "workload: {overrides: {env: [{name: OTHER, value: a}]}}\n"
	for _, older := range []bool{false, true} {
		in := func(spec, config string) plan.Input {
			in := input(t, spec)
			in.Override.Data = []byte(config)
			if older {
				in.Object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
				in.Override.Files = map[string][]byte{"server.yaml": []byte(config)}
			}
			return in
		}
		before := record(in(ownConfig, brokenOwn))
		for name, tc := range map[string]struct {
			in   plan.Input
			errs bool
		}{
			"nothing changed":       {in(ownConfig, brokenOwn), false},
			"another configuration": {in(ownConfig, brokenOwn+"apis: []\n"), true},
			"another image":         {in("distribution: {name: starter, version: \"0.7.0\"}\n"+ownConfig, brokenOwn), true},
			"another variable":      {in(more, brokenOwn), !older},
		} {
			tc.in.Running = facts.Running{Deployment: &appsv1.Deployment{}, Record: before}
			built, err := plan.Build(tc.in)
			if (err != nil) != tc.errs {
				t.Errorf("%s, v1alpha1 %t: %v", name, older, err)
			} else if err == nil && !slices.Contains(lines(built.Warnings), typeError) {
				t.Errorf("%s, v1alpha1 %t: warnings %q", name, older, lines(built.Warnings))
			}
		}
	}
}

func lines(warnings []stackconfig.Finding) []string {
	found := make([]string, 0, len(warnings))
	for _, warning := range warnings {
		found = append(found, warning.String())
	}
	return found
}
