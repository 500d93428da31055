package manager

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

func metadata(labels map[string]string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "x", Namespace: "ns", UID: "u", ResourceVersion: "5", Labels: labels,
		Annotations:     map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "much"},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "m"}},
		OwnerReferences: []metav1.OwnerReference{{UID: "o"}},
	}}
}

func TestStripMetadata(t *testing.T) {
	foreign, err := stripMetadata(metadata(map[string]string{"app": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	want := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "x", Namespace: "ns", UID: "u",
		ResourceVersion: "5",
	}}
	if diff := cmp.Diff(want, foreign); diff != "" {
		t.Errorf("object of another owner (-want +got):\n%s", diff)
	}
	ours := map[string]string{"app.kubernetes.io/managed-by": "llama-stack-operator"}
	kept, err := stripMetadata(metadata(ours))
	if err != nil {
		t.Fatal(err)
	}
	want.Labels, want.OwnerReferences = ours, []metav1.OwnerReference{{UID: "o"}}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("child (-want +got):\n%s", diff)
	}
}

func TestStripWorkload(t *testing.T) {
	fromSecret := corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}}
	spec := corev1.PodSpec{
		ServiceAccountName: "sa", NodeName: "n", Volumes: []corev1.Volume{{Name: "v"}},
		Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{fromSecret, {Name: "B", Value: "plain"}}}},
	}
	pod := &corev1.Pod{Spec: spec, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{}}
	set := &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: corev1.PodTemplateSpec{Spec: spec}}}
	set.Annotations = map[string]string{"deployment.kubernetes.io/revision": "1"}
	for _, object := range []any{pod, set} {
		if _, err := stripWorkload(object); err != nil {
			t.Fatal(err)
		}
	}
	wantPod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	if diff := cmp.Diff(wantPod, pod); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	installs := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{
		{Name: "external-provider-a", Image: "a", Command: []string{"sh"}}, {Name: names.ExternalContainer, Image: "i"},
	}}}
	other := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "user", Image: "a"}}}}
	for _, pod := range []*corev1.Pod{installs, other} {
		if _, err := stripWorkload(pod); err != nil {
			t.Fatal(err)
		}
	}
	wantInstalls := []corev1.Container{{Name: "external-provider-a", Image: "a"}, {Name: names.ExternalContainer, Image: "i"}}
	if diff := cmp.Diff(wantInstalls, installs.Spec.InitContainers); diff != "" || other.Spec.InitContainers != nil {
		t.Errorf("pod with external providers (-want +got):\n%s\nanother pod: %v", diff, other.Spec.InitContainers)
	}
	want := corev1.PodSpec{
		ServiceAccountName: "sa", Volumes: spec.Volumes, Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{fromSecret}}},
	}
	if diff := cmp.Diff(want, set.Spec.Template.Spec); diff != "" || set.Annotations == nil {
		t.Errorf("template of a ReplicaSet (-want +got):\n%s", diff)
	}
}

// A cached stack has no copy of the last applied manifest, and no spec that is too large to be processed. It has
// managed fields only if another operator wrote the status.
func TestStripStack(t *testing.T) {
	other := metav1.ManagedFieldsEntry{
		Manager: "manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "llamastack.io/v1alpha1", Subresource: "status",
		FieldsV1: metav1.NewFieldsV1("{}"),
	}
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{
		Annotations:   map[string]string{corev1.LastAppliedConfigAnnotation: "much", "kept": "yes"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}, other},
	}}
	stack.Spec.Distribution.Name = "starter"
	want := stack.DeepCopy()
	want.ManagedFields, want.Annotations = []metav1.ManagedFieldsEntry{other}, map[string]string{"kept": "yes"}
	want.ManagedFields[0].FieldsV1 = nil
	if _, err := stripStack(stack); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stack); diff != "" {
		t.Errorf("stack (-want +got):\n%s", diff)
	}
	stack.Spec.Settings = &apiextensionsv1.JSON{Raw: []byte(`"` + strings.Repeat("x", validate.MaxSpecBytes) + `"`)}
	if _, err := stripStack(stack); err != nil || stack.Spec.Settings != nil {
		t.Errorf("a spec that is too large is kept: %v", err)
	}
}

// Caches cannot be filled while no webhook converts the objects stored in v1alpha1. The operator does not exit while it
// waits for the caches.
func TestCacheSyncHasNoTimeout(t *testing.T) {
	timeout := managerOptions(nil, Options{}).Controller.CacheSyncTimeout
	if now := time.Now(); now.Add(timeout).Before(now.AddDate(1, 0, 0)) {
		t.Errorf("the operator exits if caches are not filled within %v", timeout)
	}
}
