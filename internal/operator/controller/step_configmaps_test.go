package controller

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestReadConfigMaps(t *testing.T) {
	const (
		withBundle   = `{distribution: {name: starter}, networking: {tls: {caBundle: {configMapName: ca}}}}`
		withOverride = `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`
	)
	certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	trusted, problems := cabundle.Read(certificate)
	if len(trusted) != 1 || len(problems) > 0 {
		t.Fatalf("%d certificates, %v", len(trusted), problems)
	}
	for name, tc := range map[string]configMapsCase{
		"no reference": {spec: `{distribution: {name: starter}}`},
		"override": {
			spec: withOverride, configMap: "mine", data: map[string]string{"config.yaml": "distro_name: mine\nproviders: {}\n"},
		},
		"missing override": {
			spec: withOverride, reason: v1alpha2.ReasonConfigMapNotFound,
			message: `ConfigMap "mine" not found in namespace "team". Referenced by: spec.overrideConfig.configMapName`,
		},
		"bundle": {
			spec: withBundle, configMap: "ca", data: map[string]string{"ca-bundle.crt": string(certificate)},
			certificates: trusted,
		},
		"missing key of a bundle": {
			spec: withBundle, configMap: "ca", data: map[string]string{"other": string(certificate)},
			reason:  v1alpha2.ReasonConfigMapKeyMissing,
			message: `Key "ca-bundle.crt" not found in ConfigMap "ca" in namespace "team". Referenced by: spec.networking.tls.caBundle.configMapName`,
		},
		"bundle with a private key": {
			spec: withBundle, configMap: "ca", data: map[string]string{"ca-bundle.crt": string(certificate) + string(key)},
			certificates: trusted, reason: v1alpha2.ReasonConfigMapValueUnusable,
			message: fmt.Sprintf(`Key "ca-bundle.crt" of ConfigMap "ca" in namespace "team" cannot be used: line %d: is a private key, `+
				"which anyone who can read the ConfigMap can use: remove it, and issue a new key. "+
				"Referenced by: spec.networking.tls.caBundle.configMapName", bytes.Count(certificate, []byte("\n"))+1),
		},
		"bundle of the platform": {
			spec: `{distribution: {name: starter}}`, configMap: names.TrustedCABundle, certificates: trusted,
			data: map[string]string{"ca-bundle.crt": "garbage", "odh-ca-bundle.crt": string(certificate)},
		},
	} {
		t.Run(name, func(t *testing.T) { checkConfigMaps(t, tc) })
	}
}

// configMapsCase is a row of TestReadConfigMaps.
type configMapsCase struct {
	spec            string
	configMap       string
	data            map[string]string
	certificates    [][]byte
	reason, message string
}

// checkConfigMaps reads the ConfigMaps of a stack and compares their contents with the test case.
func checkConfigMaps(t *testing.T, tc configMapsCase) {
	own, f := testutil.NewStack(t, tc.spec), newFixture(t)
	if tc.configMap != "" {
		f.createObjects(t,
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: tc.configMap}, Data: tc.data})
	}
	s, err := f.runSteps(t, own, "configmaps")
	var want *status.Failure
	if tc.reason != "" {
		want = &status.Failure{
			Condition: v1alpha2.ConditionValidationSucceeded, Reason: tc.reason, Message: tc.message,
			Retry: status.OnReferenceChange,
		}
	}
	checkFailure(t, err, want)
	if diff := cmp.Diff(tc.certificates, slices.Concat(s.configMaps.Trust.Own,
		s.configMaps.Trust.Platform)); diff != "" {
		t.Errorf("certificates (-want +got):\n%s", diff)
	}
	if tc.configMap == "" || tc.configMap == names.TrustedCABundle {
		return
	}
	for key, value := range tc.data {
		if tc.reason == v1alpha2.ReasonConfigMapKeyMissing {
			value = "" // the operator keeps only keys that the stack refers to
		}
		if got := string(s.configMaps.Contents[tc.configMap][key]); got != value {
			t.Errorf("key %q is %q, want %q", key, got, value)
		}
	}
	if users := f.stacks.References.Requests(kindConfigMap, childKey(own, tc.configMap)); len(users) != 1 {
		t.Errorf("the users of the ConfigMap are %v, want the stack", users)
	}
}

// TestConfigMapOfTheSameNameInAnotherNamespace checks that, if the running pods use a ConfigMap in another namespace, a
// ConfigMap in the stack's own namespace does not replace it. If the pods do not use the ConfigMap in the other
// namespace and the operator must not read it, the ConfigMap in the stack's own namespace replaces it.
func TestConfigMapOfTheSameNameInAnotherNamespace(t *testing.T) {
	const asked = "shared/mine"
	own := testutil.NewStack(t, `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`)
	own.Annotations = map[string]string{
		names.AnnotationCompat: names.CompatV1Alpha1, names.AnnotationUserConfigNamespace: "shared",
	}
	f := newFixture(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shared", Name: "mine"},
		Data:       map[string]string{"config.yaml": "distro_name: theirs\nproviders: {}"},
	})
	refused := &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonConfigMapNotFound,
		Retry: status.OnReferenceChange,
		Message: `ConfigMap "mine" in namespace "shared" does not exist, or its annotation llamastack.io/allow-namespaces does not contain the namespace "team"; create the ConfigMap, or add the namespace "team" to the annotation. ` +
			`Referenced by: spec.overrideConfig.configMapName`,
	}
	_, err := f.runSteps(t, own, "configmaps")
	checkFailure(t, err, refused)
	f.createObjects(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "mine"},
		Data:       map[string]string{"config.yaml": "distro_name: own\nproviders: {}"},
	})
	if users := f.stacks.References.Requests(kindConfigMap, childKey(own, "mine")); len(users) != 1 {
		t.Errorf("the users of the ConfigMap are %v, want the stack", users)
	}
	s, err := f.runSteps(t, own, "plan")
	testutil.Must(t, err)
	if made := s.planned.Plan; made.ConfigMapName != "mine" || len(made.Warnings) != 1 {
		t.Errorf("ConfigMap %q is mounted, with the warnings %v; want mine and one warning", made.ConfigMapName, made.Warnings)
	}
	elsewhere := &workload{Record: rollout.Record{Elsewhere: []string{asked}}}
	if _, err := f.planner.ReadConfigMaps(t.Context(), own, s.intent, elsewhere, &resolve.Budget{}); err == nil {
		t.Error("a ConfigMap of the stack's namespace replaces the running configuration from another namespace")
	}
}
