package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// The pods of a stack that was taken over on OpenShift keep the group with which they can write to their volume, before
// and after a change. OpenShift admits these pods by the constraint anyuid, which assigns no group. The pods of all
// other stacks have neither a group nor a user, so that restricted-v2 admits them and assigns both.
func TestVolumesOnOpenShiftStayWritable(t *testing.T) {
	const (
		spec    = `{server: {distribution: {name: starter}, containerSpec: {port: 8321}, storage: {}}}`
		changed = `{server: {distribution: {name: starter}, containerSpec: {port: 8321, env: [{name: A, value: b}]}, storage: {}}}`
	)
	grouped := &appsv1.Deployment{}
	grouped.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(1001))}
	kept := rollout.Record{KeepsGroup: true, Template: "ours"}
	for name, tc := range map[string]struct {
		spec   string
		live   *appsv1.Deployment
		record rollout.Record
		born   bool // as v1alpha2
		keeps  bool
	}{
		"taken over from an earlier operator": {spec: spec, live: grouped, keeps: true},
		"kept":                                {spec: spec, live: grouped, record: kept, keeps: true},
		"changed":                             {spec: changed, live: grouped, record: kept, keeps: true},
		"changed again, with only the record": {spec: spec, live: &appsv1.Deployment{}, record: kept, keeps: true},
		"created by this operator":            {spec: spec},
		"a group from a user's patch":         {spec: spec, live: grouped, record: rollout.Record{Template: "ours"}},
		"a stack of v1alpha2":                 {spec: spec, live: grouped, born: true},
	} {
		in := input(t, "distribution: {name: starter}\n")
		in.Object, in.OpenShift = older(t, tc.spec), true
		in.Running = facts.Running{Deployment: tc.live, Record: tc.record}
		if tc.born {
			delete(in.Object.Annotations, names.AnnotationCompat)
		}
		built := build(t, in)
		var group, user *int64
		if security := built.Rendered.Deployment.Spec.Template.Spec.SecurityContext; security != nil {
			group, user = security.FSGroup, security.RunAsUser
		}
		var want *int64
		if tc.keeps {
			want = new(int64(1001))
		}
		if diff := cmp.Diff([]*int64{want, nil}, []*int64{group, user}); diff != "" {
			t.Errorf("%s: fsGroup and user (-want +got):\n%s", name, diff)
		}
		if got := built.Rendered.Record.KeepsGroup; got != tc.keeps {
			t.Errorf("%s: the record keeps the group: %t", name, got)
		}
	}
}
