//go:build node

package node

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// A stack's data is preserved when its pods are deleted and, with retainOnDelete, also when the stack is deleted.
func TestVolume(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const spec = "distribution: {name: starter}\nworkload: {resources: " + small + ", storage: {size: 1Gi, retainOnDelete: %t}}"
	s.apply(stack("my", fmt.Sprintf(spec, true)))
	s.ready("my")
	s.kubectl("exec", "deployment/my", "--", "/bin/mkdir", "/.llama/kept")

	s.kubectl("scale", "llsd/my", "--replicas=0")
	s.condition("my", v1alpha2.ConditionReady, v1alpha2.ReasonScaledToZero)
	s.noPods("my")
	s.kubectl("scale", "llsd/my", "--replicas=1")
	s.ready("my")
	s.kubectl("exec", "deployment/my", "--", "/bin/sh", "-c", "cd /.llama/kept")

	s.kubectl("delete", "llsd/my", "--timeout=120s")
	s.noPods("my")
	claim := &corev1.PersistentVolumeClaim{}
	if err := s.get(names.PersistentVolumeClaim("my"), claim); err != nil {
		t.Fatal(err)
	}
	s.apply(stack("my", fmt.Sprintf(spec, false)))
	s.ready("my")
	s.kubectl("exec", "deployment/my", "--", "/bin/sh", "-c", "cd /.llama/kept")

	s.kubectl("delete", "llsd/my", "--timeout=120s")
	s.eventually(func() error {
		err := s.get(names.PersistentVolumeClaim("my"), claim)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the claim still exists (%w)", err)
	})
}
