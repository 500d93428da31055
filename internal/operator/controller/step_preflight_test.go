package controller

import (
	"errors"
	"fmt"
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
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
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

// TestNoPreflight checks which changes to the pods of a stack with a volume do not need a preflight. Package plan has a
// test for the specs that need none.
func TestNoPreflight(t *testing.T) {
	const spec = `{distribution: {name: starter}, resources: {models: [%s]}, workload: {replicas: %d, storage: {size: 1Gi}}}`
	for name, tc := range map[string]struct {
		model          string
		replicas       int
		serving        int32
		needsPreflight bool
	}{
		"a change":                  {"b", 1, 1, true},
		"first rollout in progress": {"b", 1, 0, false},
		"scaled to zero":            {"b", 0, 1, false},
		"more replicas":             {"a", 2, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.applyStack(t, fmt.Sprintf(spec, "a", 1))
			changed, deployment := testutil.NewStack(t, fmt.Sprintf(spec, tc.model, tc.replicas)), &appsv1.Deployment{}
			changed.Generation = 2
			testutil.Must(t, f.Get(t.Context(), keyOf(changed), deployment))
			deployment.Status.AvailableReplicas = tc.serving
			testutil.Must(t, f.Status().Update(t.Context(), deployment))
			_, err := f.runSteps(t, changed, "preflight")
			failure, _ := errors.AsType[*status.Failure](err)
			starts := failure != nil && failure.Reason == v1alpha2.ReasonPreflightInProgress
			if starts != tc.needsPreflight || !starts && err != nil {
				t.Errorf("error %v, want a preflight: %t", err, tc.needsPreflight)
			}
		})
	}
}
