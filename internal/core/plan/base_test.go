package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// The configurations of the published images pass the checks of their release.
func TestCheckBaseOfEveryDistribution(t *testing.T) {
	count := 0
	for _, name := range distribution.Known(nil) {
		for _, version := range distribution.Versions(name) {
			resolved, err := distribution.Resolve(name, "", version, nil)
			if err != nil {
				t.Fatal(err)
			}
			checked, err := plan.CheckBase(resolved.Base, &resolved)
			if err != nil || checked.Version != "2" {
				t.Errorf("%s %s: version %q, %v", name, version, checked.Version, err)
			}
			for _, warning := range checked.Warnings {
				if strings.Contains(warning.Message, "clear text") {
					t.Errorf("%s %s: %s", name, version, warning)
				}
			}
			count++
		}
	}
	if count < 20 {
		t.Errorf("only %d distributions", count)
	}
}

func TestCheckBase(t *testing.T) {
	const whole = "version: 1\napis: [inference]\nproviders: {inference: [{provider_id: a, provider_type: remote::openai, config: {%}}]}\n"
	for name, tc := range map[string]struct {
		base, image    string
		reason         string
		wants          string
		warns          string
		version        string
		withoutWarning bool
	}{
		"valid": {base: whole, image: "a:0.7.3", version: "1", withoutWarning: true},
		"variables": {
			base: strings.Replace(whole, "%", "api_key: '${env.KEY}'", 1), image: "a:0.7.3", version: "1", withoutWarning: true,
		},
		"release unknown": {base: whole, image: "a:prod", version: "1", warns: `the server release of image "a:prod" is unknown`},
		"release with the data of a nearby release": {base: whole, image: "a:0.7.99", version: "1", warns: "the operator has no data for server release 0.7.99, so it configures the server with the data for release "},
		"wrong value, unknown release":              {base: strings.Replace(whole, "%", "allowed_models: 7", 1), image: "a:prod", version: "1", warns: "providers.inference[0].config.allowed_models"},
		"clear text":                                {base: strings.Replace(whole, "%", "api_key: abc", 1), image: "a:0.7.3", version: "1", warns: "providers.inference[0].config.api_key: is a credential in clear text"},
		"wrong value":                               {base: strings.Replace(whole, "%", "allowed_models: 7", 1), image: "a:0.7.3", version: "1", reason: v1alpha2.ReasonConfigGenerationFailed, wants: "providers.inference[0].config.allowed_models: "},
		"unsupported version":                       {base: "version: 3\n", image: "a:0.7.3", reason: v1alpha2.ReasonUnsupportedConfigVersion, wants: "Unsupported config.yaml version 3. Supported versions: 1, 2"},
		"no YAML":                                   {base: "{", image: "a:0.7.3", reason: v1alpha2.ReasonConfigGenerationFailed, wants: "is not YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			resolved, err := distribution.Resolve("", tc.image, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := plan.CheckBase([]byte(strings.Replace(tc.base, "%", "", 1)), &resolved)
			failed, _ := errors.AsType[*plan.ConfigError](err)
			switch {
			case tc.wants == "" && err != nil:
				t.Error(err)
			case tc.wants != "" && (failed == nil || failed.Reason != tc.reason || !strings.Contains(failed.Error(), tc.wants)):
				t.Errorf("got %v, want %s: %q", err, tc.reason, tc.wants)
			}
			if got.Version != tc.version {
				t.Errorf("version %q, want %q", got.Version, tc.version)
			}
			var told []string
			for _, warning := range got.Warnings {
				told = append(told, warning.String())
			}
			if all := strings.Join(told, "\n"); !strings.Contains(all, tc.warns) || tc.withoutWarning && all != "" {
				t.Errorf("warnings %q, want %q", told, tc.warns)
			}
		})
	}
}
