package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// older returns a stack that was created as v1alpha1.
func older(t *testing.T, spec string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	var document map[string]any
	text := "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: demo, namespace: team}\nspec: " + spec
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(convert.ToHub(document))
	if err != nil {
		t.Fatal(err)
	}
	object := &v1alpha2.LlamaStackDistribution{}
	if err := json.Unmarshal(data, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// counts are numbers of certificates.
type counts struct{ Own, Platform, Unusable int }

// readTrustCase is a case of TestReadTrust.
type readTrustCase struct {
	spec     string
	born     bool
	contents map[string]map[string][]byte
	want     counts
	warnings []string
	source   string
}

func TestReadTrust(t *testing.T) {
	const (
		withBundle = `{server: {distribution: {name: starter}, tlsConfig: {caBundle: {configMapName: ca}}}}`
		elsewhere  = `{server: {distribution: {name: starter}, tlsConfig: {caBundle: {configMapName: ca, configMapNamespace: shared}}}}`
	)
	one, key := testutil.SameCertificate(t)
	two := testutil.CertificateFor(t, "two")
	bundle := func(parts ...[]byte) map[string][]byte {
		text := []string{}
		for _, part := range parts {
			text = append(text, string(part))
		}
		return map[string][]byte{"ca-bundle.crt": []byte(strings.Join(text, ""))}
	}
	trusted := []byte(strings.ReplaceAll(string(two), " CERTIFICATE", " TRUSTED CERTIFICATE"))
	for name, tc := range map[string]readTrustCase{
		"none":                {spec: `{server: {distribution: {name: starter}}}`},
		"the spec's":          {spec: withBundle, contents: map[string]map[string][]byte{"ca": bundle(one)}, want: counts{Own: 1}},
		"a missing ConfigMap": {spec: withBundle},
		"the platform's": {
			spec: `{server: {distribution: {name: starter}}}`, contents: map[string]map[string][]byte{names.TrustedCABundle: bundle(one, key)},
			want: counts{Platform: 1},
		},
		"both": {
			spec: withBundle, contents: map[string]map[string][]byte{"ca": bundle(one), names.TrustedCABundle: bundle(two)},
			want: counts{Own: 1, Platform: 1},
		},
		"both, in a stack of v1alpha2": {
			spec: withBundle, born: true, contents: map[string]map[string][]byte{
				"ca":                  bundle(one),
				names.TrustedCABundle: bundle(two),
			},
			want: counts{Own: 1},
		},
		"an entry that is not a certificate": {
			spec: withBundle, contents: map[string]map[string][]byte{"ca": bundle(one, key, trusted)}, want: counts{Own: 1},
			warnings: []string{
				`key "ca-bundle.crt" of ConfigMap "ca": line 9: is a private key, which anyone who can read the ConfigMap can use: remove it, and issue a new key; the operator ignores this entry`,
				`key "ca-bundle.crt" of ConfigMap "ca": line 12: is a PEM block of type "TRUSTED CERTIFICATE", not a certificate: remove this block; the operator ignores this entry`,
			},
		},
		"an entry that is not a certificate, in a stack of v1alpha2": {
			spec: withBundle, born: true, contents: map[string]map[string][]byte{"ca": bundle(one, key)},
			want: counts{Own: 1, Unusable: 1},
		},
		"only a private key": {spec: withBundle, contents: map[string]map[string][]byte{"ca": bundle(key)}, want: counts{Unusable: 1}},
		"a ConfigMap in another namespace": {
			spec: elsewhere, contents: map[string]map[string][]byte{"shared/ca": bundle(one), "ca": bundle(one, two)},
			want:   counts{Own: 1},
			source: "shared/ca",
		},
		"a ConfigMap that replaces one in another namespace": {
			spec: elsewhere, contents: map[string]map[string][]byte{"ca": bundle(one, two)}, want: counts{Own: 2},
			warnings: []string{`either ConfigMap "ca" does not exist in namespace "shared", or the operator has no access to it, or its annotation ` +
				`llamastack.io/allow-namespaces does not contain the namespace "team"; the operator therefore uses the ConfigMap with the same name in namespace "team"; ` +
				`remove configMapNamespace from the spec, or ask the owner of the ConfigMap in namespace "shared" to set the annotation`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.check(t)
		})
	}
}

func (tc readTrustCase) check(t *testing.T) {
	t.Helper()
	object := older(t, tc.spec)
	if tc.born {
		delete(object.Annotations, names.AnnotationCompat)
	}
	trust, unusable := plan.ReadTrust(object, tc.contents)
	if diff := cmp.Diff(tc.want, counts{len(trust.Own), len(trust.Platform), len(unusable)}); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if wanted := object.Spec.Networking != nil; (trust.Own != nil) != wanted {
		t.Errorf("certificates of the spec were read: %v, want %t", trust.Own != nil, wanted)
	}
	var warnings []string
	for _, warning := range trust.Warnings {
		if warning.Path != "spec.networking.tls.caBundle.configMapName" {
			t.Errorf("path %q", warning.Path)
		}
		warnings = append(warnings, warning.Message)
	}
	if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if trust.Elsewhere != tc.source {
		t.Errorf("read in %q, want %q", trust.Elsewhere, tc.source)
	}
}

// The record lists each ConfigMap that the stack uses from another namespace.
func TestRecordOfOtherNamespaces(t *testing.T) {
	object := older(t, `{server: {distribution: {name: starter}, userConfig: {configMapName: mine, configMapNamespace: shared}, `+
		`tlsConfig: {caBundle: {configMapName: ca, configMapNamespace: shared}}}}`)
	one, _ := testutil.SameCertificate(t)
	content := map[string][]byte{"config.yaml": []byte("distro_name: a\nproviders: {}\n"), "ca-bundle.crt": one}
	for name, tc := range map[string]struct {
		contents  map[string]map[string][]byte
		want      []string
		configMap string
	}{
		"elsewhere": {
			map[string]map[string][]byte{"shared/mine": content, "shared/ca": content},
			[]string{"shared/mine", "shared/ca"},
			"demo-config-",
		},
		"here": {map[string]map[string][]byte{"mine": content, "ca": content}, nil, "mine"},
	} {
		in := input(t, "distribution: {name: starter}\n")
		in.Object, in.Override = object, plan.ReadOverride(object, tc.contents)
		in.Trust, _ = plan.ReadTrust(object, tc.contents)
		built := build(t, in)
		if diff := cmp.Diff(tc.want, built.Rendered.Record.Elsewhere); diff != "" {
			t.Errorf("%s: record (-want +got):\n%s", name, diff)
		}
		if !strings.HasPrefix(built.ConfigMapName, tc.configMap) {
			t.Errorf("%s: ConfigMap %q, want %q", name, built.ConfigMapName, tc.configMap)
		}
		if warned := len(built.Warnings) == 2; warned != (tc.want == nil) {
			t.Errorf("%s: warnings %v", name, built.Warnings)
		}
	}
}
