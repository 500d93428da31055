package typecheck_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		spec string
		want []string
	}{
		"nothing wrong":         {`{"distribution": {"name": "starter"}, "workload": {"replicas": 2, "storage": {"size": 10}}}`, nil},
		"null counts as absent": {`{"workload": null}`, nil},
		"several problems": {
			`{"networking": {"port": "8321"}, "workload": {"replicas": "two", "workers": 1.5, "storage": {"size": "10GB"}}, "disabled": "eval"}`,
			[]string{
				`spec.disabled: must be a list, got text; write a "-" in front of each item`,
				`spec.networking.port: must be a whole number, got "8321"; write it without quotes`,
				`spec.workload.replicas: must be a whole number, got "two"`,
				`spec.workload.storage.size: "10GB" is not a quantity: write a quantity such as 10Gi, 500m or 2`,
				`spec.workload.workers: must be a whole number, got 1.5`,
			},
		},
		"too large": {`{"networking": {"port": 99999999999}}`, []string{`spec.networking.port: must be a whole number from -2147483648 to 2147483647, got 99999999999`}},
		"reference in its short form": {
			`{"secretEnv": {"A": {"name": "a", "key": "b"}, "B": {"key": "b"}}}`,
			[]string{
				`spec.secretEnv[A]: key and name belong one level deeper: write {secretKeyRef: {name: …, key: …}}`,
				`spec.secretEnv[B]: key belongs one level deeper: write {secretKeyRef: {name: …, key: …}}`,
			},
		},
		"a value instead of a reference": {
			`{"secretEnv": {"A": "sk-canary"}}`, []string{`spec.secretEnv[A]: must be {secretKeyRef: {name: …, key: …}}, got text`},
		},
		"unknown fields": {
			`{"networkin": {}, "baseConfig": {"cofigMapName": "a", "zzzzzz": 1}, "zzzzzzz": 1, "externalProviders": {"inference": [{"imag": "b"}]}}`,
			[]string{
				`spec.baseConfig.cofigMapName: unknown field; did you mean "configMapName"?`,
				`spec.baseConfig.zzzzzz: unknown field; known fields: configMapName, key`,
				`spec.externalProviders.inference[0].imag: unknown field; did you mean "image"?`,
				`spec.networkin: unknown field; did you mean "networking"?`,
				`spec.zzzzzzz: unknown field: remove it`,
			},
		},
		"text": {`{"distribution": {"name": 7, "version": true}}`, []string{
			`spec.distribution.name: must be text, got a number; quote it`,
			`spec.distribution.version: must be text, got a boolean; quote it`,
		}},
		"list instead of a number or text": {`{"workload": {"podDisruptionBudget": {"minAvailable": [1]}}}`, []string{
			`spec.workload.podDisruptionBudget.minAvailable: must be a whole number or text such as 50%, got a list`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fitting, problems := typecheck.Check(decode(t, `{"spec": `+tt.spec+`}`), reflect.TypeFor[v1alpha2.LlamaStackDistribution]())
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			data, err := json.Marshal(fitting)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &v1alpha2.LlamaStackDistribution{}); err != nil {
				t.Errorf("the fitting value does not decode: %v", err)
			}
		})
	}
}

// The items of a list keep their positions, so that later findings name the correct positions.
func TestCheckKeepsPositions(t *testing.T) {
	fitting, _ := typecheck.Check(decode(t, `{"containers": [{"name": 5}, "x", {"name": "b"}]}`), reflect.TypeFor[corev1.PodSpec]())
	want := map[string]any{"containers": []any{map[string]any{}, nil, map[string]any{"name": "b"}}}
	if diff := cmp.Diff(any(want), fitting); diff != "" {
		t.Errorf("fitting value (-want +got):\n%s", diff)
	}
}

// The API server removes the entries of a map that are null, so that they are neither empty texts nor quantities of 0.
func TestCheckRemovesNull(t *testing.T) {
	pod := decode(t, `{"nodeSelector": {"a": null, "b": "c"}}`)
	fitting, problems := typecheck.Check(pod, reflect.TypeFor[corev1.PodSpec]())
	want := map[string]any{"nodeSelector": map[string]any{"b": "c"}}
	if diff := cmp.Diff(any(want), fitting); diff != "" || len(problems) > 0 {
		t.Errorf("problems %v; fitting value (-want +got):\n%s", problems, diff)
	}
}

// withoutNull returns a value without the entries of objects that are null.
func withoutNull(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, inner := range value {
			if inner != nil {
				kept[key] = withoutNull(inner)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(value))
		for i, inner := range value {
			kept[i] = withoutNull(inner)
		}
		return kept
	}
	return value
}

// FuzzCheck checks that Check accepts only values that a strict decoder accepts, that the value that Check returns
// decodes, and that no message contains v1alpha2 or int32, which are parts of Go type names.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		`{"spec": {"workload": {"resources": {"limits": {"cpu": "x"}}}}}`, `[]`, `5`, `{"metadata": {"creationTimestamp": "x", "labels": {"a": 1}}}`,
		`{"spec": {"workload": {"overrides": {"env": [{"valueFrom": 1}], "podTemplate": 5}}, "providers": {"inference": 7}}}`,
	} {
		f.Add(text)
	}
	f.Add(`{"spec": {"secretEnv": {"A": null}, "workload": {"resources": {"limits": {"cpu": null}}}}}`)
	f.Add(`{"spec": {"distribution": {"name": "starter"}, "workload": {"replicas": 2, "workers": null, "storage": {"size": "10Gi"}, "resources": {}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) != nil {
			return
		}
		typ := reflect.TypeFor[v1alpha2.LlamaStackDistribution]()
		fitting, problems := typecheck.Check(value, typ)
		if rejected := decodeStrictly(value); rejected != nil && len(problems) == 0 {
			t.Errorf("%s: no problem, but a decoder rejects the value: %v", text, rejected)
		}
		if diff := cmp.Diff(withoutNull(value), withoutNull(fitting)); diff != "" && len(problems) == 0 {
			t.Errorf("%s: no problem, but the fitting value differs (-value +fitting):\n%s", text, diff)
		}
		if _, again := typecheck.Check(fitting, typ); len(again) > 0 {
			t.Errorf("%s: the fitting value has problems: %v", text, again)
		}
		for _, p := range problems {
			if strings.Contains(p.Message, "v1alpha2") || strings.Contains(p.Message, "int32") {
				t.Errorf("the message contains a Go type: %s", p)
			}
		}
		if err := decodeStrictly(fitting); err != nil {
			t.Errorf("%s: the fitting value does not decode: %v", text, err)
		}
	})
}

// decodeStrictly returns the error of a decoder that rejects unknown fields.
func decodeStrictly(value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(&v1alpha2.LlamaStackDistribution{})
}

func decode(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
