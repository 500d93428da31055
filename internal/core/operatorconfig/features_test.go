package operatorconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

func TestReadFeatures(t *testing.T) {
	for text, want := range map[string]struct {
		on   bool
		errs []string
	}{
		"":                                       {},
		"{}":                                     {},
		"enableNetworkPolicy: {}":                {},
		"enableNetworkPolicy: {enabled: true}":   {on: true},
		"enableNetworkPolicy: {enabled: false}":  {},
		"enableNetworkPolicy: true":              {errs: []string{`featureFlags.enableNetworkPolicy: line 1: must be a mapping, got the boolean "true"`}},
		"enableNetworkPolicies: {enabled: true}": {errs: []string{`featureFlags.enableNetworkPolicies: unknown field; did you mean "enableNetworkPolicy"?`}},
		"enableNetworkPolicy: {enabled: 'true'}": {errs: []string{`featureFlags.enableNetworkPolicy.enabled: line 1: must be true or false, got the text "true"`}},
		"enableNetworkPolicy: {enable: true}":    {errs: []string{`featureFlags.enableNetworkPolicy.enable: unknown field; did you mean "enabled"?`}},
	} {
		got, errs := read(operatorconfig.KeyFeatureFlags, text)
		if diff := cmp.Diff(want.errs, errs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if got.Features.NetworkPolicies != want.on {
			t.Errorf("%s: %+v", text, got.Features)
		}
	}
}
