package dryrun_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func newStack(t *testing.T, spec string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "my"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &object.Spec); err != nil {
		t.Fatal(err)
	}
	return object
}

// The ConfigMap in the stack's own namespace replaces one in another namespace that the stack cannot use, except while
// the record shows that the pods use the ConfigMap in the other namespace.
func TestConfigMapElsewhere(t *testing.T) {
	object := newStack(t, `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`)
	object.Annotations = map[string]string{
		names.AnnotationCompat: names.CompatV1Alpha1, names.AnnotationUserConfigNamespace: "team-a",
	}
	starter, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	own := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "mine"},
		Data:       map[string]string{names.ConfigFile: string(starter.Base)},
	}
	for name, tc := range map[string]struct {
		elsewhere []string
		want      string
	}{
		"the pods use their own ConfigMap":     {nil, ""},
		"the pods use the other ConfigMap":     {[]string{"team-a/mine"}, `ConfigMap "mine" in namespace "team-a" does not exist`},
		"the pods use another one of the user": {[]string{"team-a/ca"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			running := facts.NewRunning(object, nil)
			running.Record.Elsewhere = tc.elsewhere
			m := (&dryrun.Manifests{
				Live: true, ConfigMaps: map[dryrun.Key]*corev1.ConfigMap{{Namespace: "team-b", Name: "mine"}: own},
			}).With(running)
			found := m.Plan(dryrun.Stack{Object: object, Decoded: true})
			got := strings.Join(found.Errors, "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("errors %q, want %q", got, tc.want)
			}
		})
	}
}

// A stack in a cluster is refused if its certificates are missing, as the operator refuses it.
func TestMissingCertificates(t *testing.T) {
	object := newStack(t, `{distribution: {name: starter}, networking: {tls: {caBundle: {configMapName: ca}}}}`)
	for name, tc := range map[string]struct {
		m    dryrun.Manifests
		want string
	}{
		"files":        {dryrun.Manifests{}, ""},
		"cluster":      {dryrun.Manifests{Live: true}, `spec.networking.tls.caBundle.configMapName: ConfigMap "ca" in namespace "team-b" does not exist; create the ConfigMap`},
		"not readable": {dryrun.Manifests{Live: true, Denied: map[dryrun.Key]bool{{Namespace: "team-b", Name: "ca"}: true}}, ""},
	} {
		found := tc.m.Plan(dryrun.Stack{Object: object, Decoded: true})
		if got := strings.Join(found.Errors, "\n"); got != tc.want {
			t.Errorf("%s: errors %q, want %q", name, got, tc.want)
		}
	}
}

// A running stack keeps its base while it follows a tag, because a newer command may have another base.
func TestKeptBase(t *testing.T) {
	object := newStack(t, `{distribution: {name: starter, imageUpdates: Follow}, resources: {models: [m]}}`)
	starter, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	running := facts.NewRunning(object, nil)
	running.Record.BaseConfigMap, running.Record.BaseSource = "my-base", string(v1alpha2.ConfigSourceEmbedded)
	running.Record.Distribution.Name, running.Record.Distribution.Image = "starter", starter.Image
	running.Record.Distribution.Digest, running.Record.Image = "sha256:1", starter.Image+"@sha256:1"
	running.Base = append([]byte("# kept\n"), starter.Base...)
	found := (&dryrun.Manifests{Live: true}).With(running).Plan(dryrun.Stack{Object: object, Decoded: true})
	if found.Plan == nil {
		t.Fatal(found.Errors)
	}
	if got, want := found.Plan.Rendered.Record.Base, plan.BaseHash(running.Base); got != want {
		t.Errorf("base %q, want %q", got, want)
	}
}

// The values in files are checked with the rules of the operator: those of facts.CheckSecret, and those for the parts
// of a connection string.
func TestSecretsOfFiles(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	certificate, key := testutil.NewCertificate(t, now.Add(-time.Hour), "my.example.com")
	for spec, tc := range map[string]struct {
		secret corev1.Secret
		want   string
	}{
		`{distribution: {name: postgres-demo}, storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: s, key: url}}}}}`: {
			corev1.Secret{StringData: map[string]string{"url": "mysql://u:p@db/d"}},
			`spec.storage.sql.connectionString.secretKeyRef: key "url" of Secret "s": `,
		},
		`{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: s}}}`: {
			corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": certificate, "tls.key": key}},
			`Secret "s" in namespace "team-b" has a certificate that expired on 2025-12-31`,
		},
	} {
		m := dryrun.Manifests{Now: now, Secrets: map[dryrun.Key]*corev1.Secret{{Namespace: "team-b", Name: "s"}: &tc.secret}}
		found := m.Plan(dryrun.Stack{Object: newStack(t, spec), Decoded: true})
		if got := strings.Join(found.Errors, "\n"); !strings.Contains(got, tc.want) {
			t.Errorf("%s: errors %q, want %q", spec, got, tc.want)
		}
	}
}
