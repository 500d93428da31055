package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// TestConstraintOfAPreflight checks that, on OpenShift, a preflight pod requires the security context constraint of the
// newest serving pod of the Deployment, and that a pod that belongs to another owner is ignored.
func TestConstraintOfAPreflight(t *testing.T) {
	object := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Name: "my", Namespace: "ns"}}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "my", UID: "deployment"}}
	set := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Name: "my-1", UID: "set",
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind(kindDeployment)),
		},
	}}
	pod := func(name, constraint string, age time.Duration, ready corev1.ConditionStatus, owned bool) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", Labels: names.Selector("my"),
			Annotations:       map[string]string{names.AnnotationConstraint: constraint},
			CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age)),
		}}
		if owned {
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&set,
				appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		}
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		return pod
	}
	reader := fake.NewClientBuilder().WithObjects(pod("older", "anyuid", time.Hour, corev1.ConditionTrue, true),
		pod("newer", "restricted-v2", time.Minute, corev1.ConditionTrue, true),
		pod("not-ready", "nonroot", time.Second, corev1.ConditionFalse, true),
		pod("somebodys", "privileged", 0, corev1.ConditionTrue, false)).Build()
	for openShift, want := range map[bool]string{true: "restricted-v2", false: ""} {
		r := &Reconciler{cache: reader, openShift: openShift}
		got, err := r.constraint(t.Context(), object, &workload{
			Deployment:  deployment,
			ReplicaSets: []appsv1.ReplicaSet{set},
		})
		if err != nil || got != want {
			t.Errorf("on OpenShift %t: constraint %q (error %v), want %q", openShift, got, err, want)
		}
	}
}

// TestStartAfterAnotherPreflight checks that a preflight does not begin while another pod exists that the cache lacks.
func TestStartAfterAnotherPreflight(t *testing.T) {
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Name: "my", Namespace: "ns", UID: "u"}}
	foreign := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	own := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "my-preflight-1", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(stack, v1alpha2.GroupVersion.WithKind(v1alpha2.Kind)),
	}}}
	r := &Reconciler{direct: &pageLister{pages: []client.Object{foreign, own}}}
	made := &planning.Planned{}
	err := r.startPreflight(t.Context(), stack, &workload{}, made, &owned{}, "my-preflight-2", &report.Report{})
	if diff := cmp.Diff(preflightGoesOn("my-preflight-1", ""), err); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
