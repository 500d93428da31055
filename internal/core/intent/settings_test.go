package intent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

func TestSettings(t *testing.T) {
	in := normal(t, `
settings:
  server: {auth: {access_policy: [null, {a: 1}]}}
  vector_stores: {x: 12345678901234567890}
removeSettings: [server.quota, telemetry]
workload: {overrides: {envFrom: [{secretRef: {name: more}}]}}
`)
	want := intent.Settings{
		Values: map[string]any{
			"server": map[string]any{"auth": map[string]any{"access_policy": []any{
				nil,
				map[string]any{"a": json.Number("1")},
			}}},
			"vector_stores": map[string]any{"x": json.Number("12345678901234567890")},
		},
		Path: path("spec.settings"),
		Removed: []intent.RemovedSetting{
			{Keys: []string{"server", "quota"}, Path: path("spec.removeSettings[0]")},
			{Keys: []string{"telemetry"}, Path: path("spec.removeSettings[1]")},
		},
	}
	if diff := cmp.Diff(want, in.Settings, paths); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if !in.MoreVariables {
		t.Error("MoreVariables is false although envFrom is set")
	}
	for dotted, want := range map[string]bool{
		"server.auth": true, "server.auth.access_policy": true, "server.auth.x": false, "server.auth.access_policy.x": false,
		"server.quota": true, "server.quota.period": true, "server.port": false, "telemetry.enabled": true, "safety": false,
	} {
		if got := in.Settings.Decides(strings.Split(dotted, ".")...); got != want {
			t.Errorf("decides %s: %t, want %t", dotted, got, want)
		}
	}
}

// If there is an error, FromObject returns no settings, so that no caller uses only some of them.
func TestSettingsErrors(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for raw, want := range map[string]string{
		`{`:                              "spec.settings: must be an object",
		`null`:                           "spec.settings: must be an object, got null; omit the field",
		`"a"`:                            "spec.settings: must be an object, got a string",
		`{"a":[{"b":{"c":null}}]}`:       "spec.settings.a[0].b.c: kubectl and Helm drop null values before the object is stored: remove the key",
		`{"a":{"b":null}}`:               "spec.settings.a.b: null does not remove a setting: add a.b to removeSettings",
		`{"server":{"port":1}}`:          "spec.settings.server.port: set spec.networking.port instead",
		`{"server":[]}`:                  "spec.settings.server: must be an object (another field sets part of it), got a list",
		`{"storage":{"stores":{"x":1}}}`: "spec.settings.storage.stores.x: must be an object (another field sets part of it), got a number",
		deep:                             "spec.settings: is nested more than 32 levels deep; reduce the nesting",
	} {
		obj := &v1alpha2.LlamaStackDistribution{}
		obj.Spec.Settings = &apiextensionsv1.JSON{Raw: []byte(raw)}
		in, errs := intent.FromObject(obj)
		if got := intent.Messages(errs); got != want || in.Settings.Values != nil {
			t.Errorf("%s: %q with %v, want %q", raw, got, in.Settings.Values, want)
		}
	}
}

// FuzzSettings checks that, for any settings and any path, decoding does not panic and a second run has the same
// result. It also checks that accepted settings have no null in an object and change nothing that a field sets.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		`{"server":{"auth":{"a":[1,null]},"port":1}}`, `{"storage":{"stores":{"a":{"backend":"b"}}}}`, `[]`, `null`, `{`, `{"*":{"a":null}}`,
	} {
		f.Add([]byte(seed), "server.quota")
	}
	f.Fuzz(func(t *testing.T, raw []byte, removed string) {
		var obj v1alpha2.LlamaStackDistribution
		obj.Spec.Settings = &apiextensionsv1.JSON{Raw: raw}
		obj.Spec.RemoveSettings = []string{removed}
		in, errs := intent.FromObject(&obj)
		again, errsAgain := intent.FromObject(&obj)
		if diff := cmp.Diff(in.Settings, again.Settings, paths); diff != "" ||
			intent.Messages(errs) != intent.Messages(errsAgain) {
			t.Errorf("two runs have different results: %s", diff)
		}
		if len(in.Settings.Values) == 0 && len(errs) == 0 {
			t.Error("no settings and no error")
		}
		values := in.Settings.Values
		for _, key := range []string{"version", "apis", "providers", "registered_resources", "connectors"} {
			if values[key] != nil {
				t.Errorf("%s is accepted", key)
			}
		}
		if server, ok := values["server"].(map[string]any); values["server"] != nil &&
			(!ok || server["port"] != nil || server["insecure"] != nil) {
			t.Errorf("the server's section is accepted: %v", values["server"])
		}
		if hasNull(values) {
			t.Errorf("null is accepted: %s", raw)
		}
	})
}

func hasNull(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if inner == nil || hasNull(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}
