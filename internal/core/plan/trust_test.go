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

func TestReadTrust(t *testing.T) {
	const (
		without    = `{server: {distribution: {name: starter}}}`
		withBundle = `{server: {distribution: {name: starter}, tlsConfig: {caBundle: {configMapName: ca}}}}`
		elsewhere  = `{server: {distribution: {name: starter}, tlsConfig: {caBundle: {configMapName: ca, configMapNamespace: shared}}}}`
		platform   = names.TrustedCABundle
	)
	certificate, privateKey := testutil.SameCertificate(t)
	one, key, two := string(certificate), string(privateKey), string(testutil.CertificateFor(t, "two"))
	trusted := strings.ReplaceAll(two, " CERTIFICATE", " TRUSTED CERTIFICATE")
	for name, tc := range map[string]struct {
		spec     string
		born     bool              // as v1alpha2
		bundles  map[string]string // by ConfigMap
		want     counts
		warnings []string
		source   string
	}{
		"none":                {spec: without},
		"the spec's":          {spec: withBundle, bundles: map[string]string{"ca": one}, want: counts{Own: 1}},
		"a missing ConfigMap": {spec: withBundle},
		"the platform's": {
			spec: without, bundles: map[string]string{platform: one + key}, want: counts{Platform: 1},
		},
		"both":                         {spec: withBundle, bundles: map[string]string{"ca": one, platform: two}, want: counts{Own: 1, Platform: 1}},
		"both, in a stack of v1alpha2": {spec: withBundle, born: true, bundles: map[string]string{"ca": one, platform: two}, want: counts{Own: 1}},
		"an entry that is not a certificate": {
			spec: withBundle, bundles: map[string]string{"ca": one + key + trusted}, want: counts{Own: 1},
			warnings: []string{
				`key "ca-bundle.crt" of ConfigMap "ca": line 9: is a private key, which anyone who can read the ConfigMap can use: remove it, and issue a new key; the operator ignores this entry`,
				`key "ca-bundle.crt" of ConfigMap "ca": line 12: is a PEM block of type "TRUSTED CERTIFICATE", not a certificate: remove this block; the operator ignores this entry`,
			},
		},
		"an entry that is not a certificate, in a stack of v1alpha2": {
			spec: withBundle, born: true, bundles: map[string]string{"ca": one + key}, want: counts{Own: 1, Unusable: 1},
		},
		"only a private key": {spec: withBundle, bundles: map[string]string{"ca": key}, want: counts{Unusable: 1}},
		"a ConfigMap in another namespace": {
			spec: elsewhere, bundles: map[string]string{"shared/ca": one, "ca": one + two}, want: counts{Own: 1}, source: "shared/ca",
		},
		"a ConfigMap that replaces one in another namespace": {
			spec: elsewhere, bundles: map[string]string{"ca": one + two}, want: counts{Own: 2},
			warnings: []string{`either ConfigMap "ca" does not exist in namespace "shared", or the operator has no access to it, or its annotation ` +
				`llamastack.io/allow-namespaces does not contain the namespace "team"; the operator therefore uses the ConfigMap with the same name in namespace "team"; ` +
				`remove configMapNamespace from the spec, or ask the owner of the ConfigMap in namespace "shared" to set the annotation`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object, contents := older(t, tc.spec), map[string]map[string][]byte{}
			if tc.born {
				delete(object.Annotations, names.AnnotationCompat)
			}
			for configMap, bundle := range tc.bundles {
				contents[configMap] = map[string][]byte{"ca-bundle.crt": []byte(bundle)}
			}
			trust, unusable := plan.ReadTrust(object, contents)
			if diff := cmp.Diff(tc.want, counts{len(trust.Own), len(trust.Platform), len(unusable)}); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if wanted := object.Spec.Networking != nil; (trust.Own != nil) != wanted || trust.Elsewhere != tc.source {
				t.Errorf("certificates of the spec were read: %v, want %t, in %q", trust.Own != nil, wanted, trust.Elsewhere)
			}
			var warnings []string
			for _, warning := range trust.Warnings {
				warnings = append(warnings, strings.TrimPrefix(warning.String(), "spec.networking.tls.caBundle.configMapName: "))
			}
			if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
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
