package intent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

func TestExternalProviders(t *testing.T) {
	in := normal(t, `
externalProviders:
  vectorIo:
  - {providerId: third, image: "r/c:1"}
  vector_io:
  - {providerId: fourth, image: "r/d:1"}
  inference:
  - providerId: second
    image: r/b:1
    imagePullPolicy: Always
    config: {z: 1.50, a: {x: [true, null]}}
    secretRefs:
      token: {secretKeyRef: {name: s, key: t}}
      key: {secretKeyRef: {name: s, key: k}}
  - {providerId: first, image: "r/a:1", config: {}}
`)
	secret := func(key, in, variable string) intent.SecretKey {
		return intent.SecretKey{Key: key, SecretRef: intent.SecretRef{
			Name: "s", Key: in, EnvVar: variable, Path: path("spec.externalProviders.inference[0].secretRefs[" + key + "].secretKeyRef"),
		}}
	}
	want := []intent.ExternalProvider{
		{
			API: "inference", ID: "second", Image: "r/b:1", PullPolicy: corev1.PullAlways, Path: path("spec.externalProviders.inference[0]"),
			Config:  map[string]any{"z": json.Number("1.5"), "a": map[string]any{"x": []any{true, nil}}},
			Secrets: []intent.SecretKey{secret("key", "k", "LLSD_SECOND_KEY"), secret("token", "t", "LLSD_SECOND_TOKEN")},
		},
		{
			API: "inference", ID: "first", Image: "r/a:1", Config: map[string]any{},
			Path: path("spec.externalProviders.inference[1]"),
		},
		{API: "vector_io", ID: "third", Image: "r/c:1", Path: path("spec.externalProviders.vectorIo[0]")},
		{API: "vector_io", ID: "fourth", Image: "r/d:1", Path: path("spec.externalProviders.vector_io[0]")},
	}
	if diff := cmp.Diff(want, in.External, paths); diff != "" {
		t.Errorf("external providers (-want +got):\n%s", diff)
	}
	uses := []intent.SecretUse{
		{Secret: "s", Key: "k", Path: "spec.externalProviders.inference[0].secretRefs[key].secretKeyRef", EnvVar: "LLSD_SECOND_KEY", Purpose: intent.PurposeProvider},
		{Secret: "s", Key: "t", Path: "spec.externalProviders.inference[0].secretRefs[token].secretKeyRef", EnvVar: "LLSD_SECOND_TOKEN", Purpose: intent.PurposeProvider},
	}
	if diff := cmp.Diff(uses, in.Secrets); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

// If an external provider replaces a provider, the replaced provider needs no Secret, and its variables do not conflict
// with other variables.
func TestExternalTakesThePlaceOfAnother(t *testing.T) {
	in := normal(t, `
providers: {inference: {id: mine, provider: vllm, apiKey: {secretKeyRef: {name: old, key: k}}}}
externalProviders: {inference: [{providerId: mine, image: a,
  secretRefs: {api_key: {secretKeyRef: {name: new, key: k}}}}]}
`)
	want := []intent.SecretUse{{
		Secret: "new", Key: "k", EnvVar: "LLSD_MINE_API_KEY", Purpose: intent.PurposeProvider,
		Path: "spec.externalProviders.inference[0].secretRefs[api_key].secretKeyRef",
	}}
	if diff := cmp.Diff(want, in.Secrets); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if got := in.ExternalWith("inference", "mine"); got != &in.External[0] {
		t.Errorf("got %v", got)
	}
	if got := in.ExternalWith("safety", "mine"); got != nil {
		t.Errorf("another API has %v", got)
	}
}

func TestExternalErrors(t *testing.T) {
	for name, tc := range map[string]struct{ spec, want string }{
		"one key, two fields": {
			`externalProviders: {inference: [{providerId: a, image: b, config: {k: 1}, secretRefs: {k: {secretKeyRef: {name: s, key: t}}}}]}`,
			`spec.externalProviders.inference[0].config.k: "k" is also set by spec.externalProviders.inference[0].secretRefs[k]; keep one of them`,
		},
		"an empty key": {
			`externalProviders: {inference: [{providerId: a, image: b, secretRefs: {"": {secretKeyRef: {name: s, key: t}}}}]}`,
			`spec.externalProviders.inference[0].secretRefs[]: a key in a provider's configuration must not be empty: set the key, or remove the entry`,
		},
		"an empty reference": {
			`externalProviders: {inference: [{providerId: a, image: b, secretRefs: {k: {}}}]}`,
			`spec.externalProviders.inference[0].secretRefs[k].secretKeyRef: required: write {secretKeyRef: {name: <Secret>, key: <key>}}`,
		},
		"one variable, two secrets": {
			`externalProviders: {inference: [{providerId: a.b, image: b, secretRefs: {k: {secretKeyRef: {name: s, key: t}}}}, ` +
				`{providerId: a-b, image: b, secretRefs: {k: {secretKeyRef: {name: s, key: u}}}}]}`,
			`spec.externalProviders.inference[1].secretRefs[k].secretKeyRef: is stored in the variable LLSD_A_B_K, but ` +
				`spec.externalProviders.inference[0].secretRefs[k].secretKeyRef uses the same variable for a different ` +
				`Secret or key; give one of the providers another ID, or remove one of the two references`,
		},
		"too deep": {
			`externalProviders: {inference: [{providerId: a, image: b, config: {a: ` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}}]}`,
			`spec.externalProviders.inference[0].config: is nested more than 32 levels deep; reduce the nesting`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := intent.FromObject(object(t, tc.spec))
			if diff := cmp.Diff(tc.want, intent.Messages(errs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
