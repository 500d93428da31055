//go:build node

package node

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// currentManifest returns the manifest that users install from this work tree.
func currentManifest(t *testing.T) []byte {
	t.Helper()
	manifest, err := operatorManifest(t.Context(), testutil.Root(), operatorTag)
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}

// operatedBy waits until an operator with this version has written the status.
func (s *scenario) operatedBy(name, version string) {
	s.t.Helper()
	s.until(name, func(found *v1alpha2.LlamaStackDistribution) error {
		if got := found.Status.Version.OperatorVersion; got != version {
			return fmt.Errorf("the status is from operator version %q, want %q", got, version)
		}
		return nil
	})
}

// deployed contains the state that an upgrade must not change.
type deployed struct {
	// Pods contains the number of restarts of each container, keyed by the UID of its pod and the name of the
	// container.
	Pods map[string]int32
	// Spec is the spec of the Deployment. The generation is not compared, because it also increases when the operator
	// changes the annotations that contain its records.
	Spec appsv1.DeploymentSpec
}

func (s *scenario) deployed(name string) deployed {
	s.t.Helper()
	deployment := &appsv1.Deployment{}
	if err := s.get(names.Deployment(name), deployment); err != nil {
		s.t.Fatal(err)
	}
	pods, err := s.pods(name)
	if err != nil {
		s.t.Fatal(err)
	}
	found := deployed{Pods: map[string]int32{}, Spec: deployment.Spec}
	for i := range pods {
		for _, container := range pods[i].Status.ContainerStatuses {
			found.Pods[string(pods[i].UID)+" "+container.Name] = container.RestartCount
		}
	}
	return found
}
