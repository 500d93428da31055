package controller_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestVolumeCannotGrow checks that a volume that cannot grow does not block other changes, and that the failure ends
// when the spec has the earlier size again.
func TestVolumeCannotGrow(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	class := "fixed-" + env.Namespace
	testutil.Must(t, env.Client.Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "example.com/test", AllowVolumeExpansion: new(false),
	}))
	spec := func(size string, replicas int) string {
		return fmt.Sprintf(`{distribution: {name: starter}, workload: {replicas: %d, storage: {storageClassName: %s, size: %s}}}`, replicas, class, size)
	}
	env.StartReconciler(t, "volume-fixed")
	env.Create(t, env.NewStack(t, "my", spec("20Gi", 1)))
	claim := &corev1.PersistentVolumeClaim{}
	env.WaitForChild(t, "my-pvc", claim)
	claim.Status.Phase, claim.Status.Capacity = corev1.ClaimBound, claim.Spec.Resources.Requests
	env.UpdateStatus(t, claim)
	env.WaitForCondition(t, "my", v1alpha2.ConditionStorageReady, v1alpha2.ReasonStorageReady)
	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	env.Get(t, "my", before)

	env.UpdateSpec(t, "my", spec("30Gi", 0))
	condition := env.WaitForCondition(t, "my", v1alpha2.ConditionStorageReady, v1alpha2.ReasonStorageResizeRefused)
	want := `PersistentVolumeClaim "my-pvc" remains at 20Gi and cannot grow to 30Gi: only dynamically provisioned pvc can be resized and ` +
		`the storageclass that provisions the pvc must support resize. The pods keep their volume; ` +
		`ask an administrator to raise the quota or to set allowVolumeExpansion: true in the StorageClass, ` +
		`or restore the earlier value of spec.workload.storage.size`
	if condition.Message != want {
		t.Errorf("message %q, want %q", condition.Message, want)
	}
	env.Get(t, "my", after)
	if *after.Spec.Replicas != 0 ||
		after.Spec.Template.Annotations["llamastack.io/inputs"] != before.Spec.Template.Annotations["llamastack.io/inputs"] {
		t.Errorf("%d replicas; the other changes did not take effect, or the pods changed", *after.Spec.Replicas)
	}
	env.UpdateSpec(t, "my", spec("20Gi", 1))
	env.WaitForCondition(t, "my", v1alpha2.ConditionStorageReady, v1alpha2.ReasonStorageReady)
}

// TestServerOfAVolume checks that a stack without a Deployment runs the release of the server that wrote the data on
// its volume. If this is the default release, the status is written only once.
func TestServerOfAVolume(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "server-of-a-volume")
	for name, tc := range map[string]struct{ release, image, from string }{
		"same":  {release.Default().Line, controllertest.StarterImage(t), "catalogue"},
		"older": {"0.6", "docker.io/ogxai/distribution-starter:0.6.1", "image-tag"},
	} {
		env.Create(t, &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{
				Name: names.PersistentVolumeClaim(name), Labels: names.Labels(name),
				Annotations: map[string]string{names.AnnotationRelease: tc.release},
			},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceStorage: resource.MustParse("1Gi"),
				}},
			},
		})
		env.Create(t, env.NewStack(t, name, `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`))
		env.WaitForCondition(t, name, v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
		stack := &v1alpha2.LlamaStackDistribution{}
		env.Get(t, name, stack)
		if got := stack.Status.ResolvedDistribution; got.Image != tc.image || got.ServerReleaseFrom != tc.from {
			t.Errorf("%s: image %q, release from %q; want %q, %q", name, got.Image, got.ServerReleaseFrom, tc.image, tc.from)
		}
	}
	statuses := 0
	for _, call := range controllertest.ListWrites(env.WaitUntilIdle(t, "server-of-a-volume")) {
		if strings.HasSuffix(call, " status same") {
			statuses++
		}
	}
	if statuses != 1 {
		t.Errorf("the status was written %d times, want once", statuses)
	}
}
