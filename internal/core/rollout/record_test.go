package rollout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

func TestRecordSurvivesItsAnnotation(t *testing.T) {
	want := rollout.Record{
		UID: "u", Generation: 7, Inputs: "a.b", TemplateInputs: "a.c", ReferenceKey: "k", Template: "d", ConfigHash: "e",
		Image: "server:1", Distribution: rollout.Distribution{
			Name: "starter", Version: "0.7", CatalogueImage: "server:0", Release: "0.7",
		},
		OperatorVersion: "v1", Kept: &rollout.Kept{RestartedAt: "monday"},
		Places: &retention.Places{Version: 1, Release: "0.7"}, Left: []string{"a"},
	}
	value, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := rollout.Parse(map[string]string{names.AnnotationRendered: value})
	if !ok {
		t.Fatalf("Parse rejects %s", value)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestParseWithDamagedPlaces checks that a record with damaged places is still accepted.
func TestParseWithDamagedPlaces(t *testing.T) {
	for _, places := range []string{`7`, `{}`, `null`, `{"v":1,"data":[]}`, `{"v":99}`} {
		value := `{"generation":7,"inputs":"a","image":"i","distribution":{},"places":` + places + `}`
		got, ok := rollout.Parse(map[string]string{names.AnnotationRendered: value})
		if !ok || got.Generation != 7 || got.Places != nil {
			t.Errorf("%s is parsed as %+v, %t", value, got, ok)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, value := range []string{"", "{", `{"a":1}`, `{"inputs":1}`} {
		if got, ok := rollout.Parse(map[string]string{names.AnnotationRendered: value}); ok {
			t.Errorf("%q is parsed as %+v", value, got)
		}
	}
}

// TestDigestIsStable checks that digests do not change: each running stack has its digest in its pod template,
// so a different digest would restart every stack at the next operator upgrade. New inputs are omitted when they are
// empty.
func TestDigestIsStable(t *testing.T) {
	inputs := rollout.Inputs{Image: "server:1", Release: "0.7", Port: 8321, Workers: 1, MountPath: "/.llama"}
	for name, tc := range map[string]struct {
		change     func(*rollout.Inputs)
		references rollout.References
		want       string
	}{
		"few inputs":      {want: "ab8ac5cf83c59fccd51612c8c6d7f782"},
		"with references": {references: rollout.References{Digest: "ref", Key: "k"}, want: "ab8ac5cf83c59fccd51612c8c6d7f782.ref"},
		"many inputs": {
			change: func(in *rollout.Inputs) {
				in.Claim, in.Compat = true, "v1alpha1"
				in.ConfigMap, in.ConfigKey, in.ConfigHash = "demo-config-1", "config.yaml", "1"
				in.Variables = []string{"A@b/c"}
				in.Overrides = &v1alpha2.WorkloadOverrides{
					Command:   []string{"run"},
					PodLabels: map[string]string{"b": "2", "a": "1"},
				}
			},
			want: "450feaa5897f4b2b470c369dcee33ecc",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs
			if tc.change != nil {
				tc.change(&in)
			}
			got, err := rollout.Digest(in, tc.references)
			if err != nil || got != tc.want {
				t.Errorf("digest %q, error %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestMessageNamesPlacesAndNoValues(t *testing.T) {
	w := newWorld(t)
	s := newStack()
	w.reconcile(s)
	rendered := s.render(t)
	spec := rendered.Deployment.Spec.Template.Spec
	spec.Containers[0].WithEnv(corev1ac.EnvVar().WithName("PASSWORD").WithValue("hunter2")).
		WithArgs("--token", "hunter2").
		WithVolumeMounts(corev1ac.VolumeMount().WithName("data").WithMountPath("/data")).
		WithSecurityContext(corev1ac.SecurityContext().WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
	spec.Containers[0].Env[0] = *corev1ac.EnvVar().WithName("OTHER").WithValue("hunter2")
	spec.WithVolumes(corev1ac.Volume().WithName("data").WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	rendered, err := rollout.NewRendered(rendered.Deployment, rendered.Record)
	if err != nil {
		t.Fatal(err)
	}
	decision, err := rollout.Decide(w.live(), w.sets, rendered)
	if err != nil || decision.Outcome != rollout.KeepTemplate {
		t.Fatalf("outcome %s, error %v", decision.Outcome, err)
	}
	const want = "updates these fields: spec.containers[llama-stack].args, spec.containers[llama-stack].env[HABIT], " +
		"spec.containers[llama-stack].env[OTHER], spec.containers[llama-stack].env[PASSWORD], " +
		"spec.containers[llama-stack].securityContext, spec.containers[llama-stack].volumeMounts[/data], " +
		"spec.volumes[data]"
	if !strings.HasSuffix(decision.Message, want) {
		t.Errorf("message %q\nwant it to end in %q", decision.Message, want)
	}
	if strings.Contains(decision.Message, "hunter2") {
		t.Error("the message contains a value")
	}
}

// TestRecordOfManyExternalProviders checks that the largest list of external providers fits into the annotations of a
// Deployment, which are limited to 256 KiB in total.
func TestRecordOfManyExternalProviders(t *testing.T) {
	const many, most = 320, 200 << 10
	var record rollout.Record
	for i := range many {
		settings, err := rollout.ExternalSettings(map[string]any{"n": i}, nil)
		if err != nil {
			t.Fatal(err)
		}
		record.External = append(record.External, rollout.External{
			ID: fmt.Sprintf("%03d%s", i, strings.Repeat("x", 60)), Image: rollout.ExternalImage(fmt.Sprint(strings.Repeat("x", 500), i)),
			Digest: "sha256:" + strings.Repeat("0", 64), API: "vector_io", Type: "remote::" + strings.Repeat("t", 80),
			Module: strings.Repeat("m", 120), Settings: settings,
		})
	}
	text, err := record.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > most {
		t.Errorf("the record of %d external providers has %d bytes, more than %d", many, len(text), most)
	}
}
