package typecheck_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// In every kind of place, Unmarshal and Check reject a quantity that would keep a core busy for minutes.
func TestCostly(t *testing.T) {
	const costly = `"1e-999999999"`
	tests := map[string]struct{ spec, path string }{
		"limits":            {`{"workload": {"resources": {"limits": {"cpu": ` + costly + `}}}}`, "spec.workload.resources.limits[cpu]"},
		"without quotes":    {`{"workload": {"resources": {"requests": {"cpu": 1e-999999999}}}}`, "spec.workload.resources.requests[cpu]"},
		"escaped":           {`{"workload": {"storage": {"size": "1\u0065-999999999"}}}`, "spec.workload.storage.size"},
		"other case":        {`{"workload": {"Storage": {"SIZE": ` + costly + `}}}`, "spec.workload.Storage.SIZE"},
		"first of two keys": {`{"workload": {"storage": {"size": ` + costly + `, "size": 1}}}`, "spec.workload.storage.size"},
		"long": {
			`{"workload": {"storage": {"size": "` + strings.Repeat("9", 200_000) + `"}}}`, "spec.workload.storage.size",
		},
		"empty directory": {
			`{"workload": {"overrides": {"volumes": [{}, {"emptyDir": {"sizeLimit": ` + costly + `}}]}}}`,
			"spec.workload.overrides.volumes[1].emptyDir.sizeLimit",
		},
		"divisor": {
			`{"workload": {"overrides": {"env": [{"valueFrom": {"resourceFieldRef": {"divisor": ` + costly + `}}}]}}}`,
			"spec.workload.overrides.env[0].valueFrom.resourceFieldRef.divisor",
		},
		"ephemeral claim": {
			`{"workload": {"overrides": {"volumes": [{"ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": ` +
				costly + `}}}}}}]}}}`,
			"spec.workload.overrides.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]",
		},
		"a variable":         {`{"workload": {"overrides": {"env": [{"name": "A", "value": ` + costly + `}]}}}`, ""},
		"a setting":          {`{"settings": {"a": ` + costly + `}}`, ""},
		"an ordinary amount": {`{"settings": {"a": ` + costly + `}, "workload": {"storage": {"size": "1e3"}}}`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text := []byte(`{"spec": ` + tt.spec + `}`)
			var got []string
			for _, p := range typecheck.Costly(text, reflect.TypeFor[v1alpha2.LlamaStackDistribution]()) {
				got = append(got, p.Path)
			}
			var want []string
			if tt.path != "" {
				want = []string{tt.path}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
			err := typecheck.Unmarshal(text, &v1alpha2.LlamaStackDistribution{})
			if (err != nil) != (want != nil) || err != nil && !strings.HasPrefix(err.Error(), tt.path+": ") {
				t.Errorf("Unmarshal returns %v, want an error about %q", err, tt.path)
			}
			if name == "other case" || name == "first of two keys" {
				return // Check reports the former as an unknown field, and its value has no second key
			}
			_, problems := typecheck.Check(decode(t, string(text)), reflect.TypeFor[v1alpha2.LlamaStackDistribution]())
			if (len(problems) > 0) != (want != nil) {
				t.Errorf("Check returns %v", problems)
			}
		})
	}
}
