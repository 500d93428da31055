package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// constraint is the part of an OpenShift SecurityContextConstraints that affects the files of a volume: it either
// accepts any uid and fsGroup and assigns no values, or accepts only the values of the namespace and assigns them.
type constraint struct {
	name string
	any  bool
}

var (
	anyUID     = constraint{"anyuid", true}
	restricted = constraint{"restricted-v2", false}
)

// These are the values of OpenShift's namespace annotations openshift.io/sa.scc.uid-range and .supplemental-groups.
const rangeFrom, rangeLength = int64(1000680000), int64(10000)

func inRange(id int64) bool { return id >= rangeFrom && id < rangeFrom+rangeLength }

// admit returns the result of OpenShift's admission of a pod: the name of the first constraint that accepts the pod,
// and the uid and the fsGroup that the pod gets. The pod's ServiceAccount can use the constraints in the parameter
// `usable`, in this order. The parameter `imageUID` is the user that the image specifies.
func admit(
	pod *corev1.PodSpec, imageUID int64, usable ...constraint,
) (by string, uid int64, fsGroup *int64, err error) {
	security := pod.SecurityContext
	if security == nil {
		security = &corev1.PodSecurityContext{}
	}
	for _, c := range usable {
		uid, fsGroup = imageUID, security.FSGroup
		if security.RunAsUser != nil {
			uid = *security.RunAsUser
		}
		if !c.any {
			if security.RunAsUser == nil {
				uid = rangeFrom
			}
			if fsGroup == nil {
				fsGroup = new(rangeFrom)
			}
			if !inRange(uid) || !inRange(*fsGroup) {
				err = fmt.Errorf("%s: unable to validate against any security context constraint: uid %d, fsGroup %d", c.name, uid, *fsGroup)
				continue
			}
		}
		return c.name, uid, fsGroup, nil
	}
	return "", 0, nil, err
}

// The pods of a stack that was taken over on OpenShift can write to their volume before and after a change. The pods of
// all other stacks are admitted.
func TestVolumesOnOpenShiftStayWritable(t *testing.T) {
	const (
		spec    = `{server: {distribution: {name: starter}, containerSpec: {port: 8321}, storage: {}}}`
		changed = `{server: {distribution: {name: starter}, containerSpec: {port: 8321, env: [{name: A, value: b}]}, storage: {}}}`
		imageID = int64(1000)
	)
	older1001 := &appsv1.Deployment{}
	older1001.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(1001))}
	build := func(spec string, live *appsv1.Deployment, record rollout.Record, born bool) (*corev1.PodSpec,
		rollout.Record,
	) {
		in := input(t, "distribution: {name: starter}\n")
		in.Object, in.OpenShift, in.Running = older(t, spec), true, facts.Running{Deployment: live, Record: record}
		if born {
			delete(in.Object.Annotations, names.AnnotationCompat)
		}
		made := build(t, in)
		data, err := json.Marshal(made.Rendered.Deployment.Spec.Template.Spec)
		if err != nil {
			t.Fatal(err)
		}
		pod := &corev1.PodSpec{}
		if err := json.Unmarshal(data, pod); err != nil {
			t.Fatal(err)
		}
		return pod, made.Rendered.Record
	}
	check := func(name string, pod *corev1.PodSpec, want string, writes bool, usable ...constraint) {
		t.Helper()
		by, uid, fsGroup, err := admit(pod, imageID, usable...)
		if by != want || err == nil && (uid == 0 || fsGroup != nil) != writes {
			t.Errorf("%s: admitted by %q as %d with fsGroup %v (error %v), want %q, and write access %t", name, by, uid, fsGroup, err, want, writes)
		}
	}

	first, record := build(spec, older1001, rollout.Record{}, false)
	check("taken over from an earlier operator", first, "anyuid", true, anyUID, restricted)
	record.Template = "" // the template is unchanged, and this is its record
	kept, record := build(spec, older1001, record, false)
	check("kept", kept, "anyuid", true, anyUID, restricted)
	next, record := build(changed, older1001, record, false)
	check("changed", next, "anyuid", true, anyUID, restricted)
	again, _ := build(spec, &appsv1.Deployment{}, record, false)
	check("changed again, with only the record", again, "anyuid", true, anyUID, restricted)

	fresh, record := build(spec, nil, rollout.Record{}, false)
	check("created by this operator", fresh, "restricted-v2", true, restricted)
	if record.KeepsGroup {
		t.Error("a stack that this operator created keeps a group")
	}
	patched, _ := build(spec, older1001, rollout.Record{Template: "ours"}, false)
	check("a group from a user's patch", patched, "restricted-v2", true, restricted)
	born, record := build(spec, older1001, rollout.Record{}, true)
	check("a stack of v1alpha2", born, "restricted-v2", true, restricted)
	if record.KeepsGroup {
		t.Error("a stack of v1alpha2 keeps a group")
	}
	check("the group, without the constraint", first, "", false, restricted)

	lost := first.DeepCopy()
	lost.SecurityContext = nil
	check("without the group", lost, "anyuid", false, anyUID, restricted)
	if !slices.ContainsFunc(first.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil }) {
		t.Error("there is no volume")
	}
}
