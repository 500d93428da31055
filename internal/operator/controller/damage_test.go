package controller_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestOwnerReferenceIsRemovedDuringAPreflight checks that a Deployment that loses its owner reference during a
// preflight is adopted again, and that the preflight continues.
func TestOwnerReferenceIsRemovedDuringAPreflight(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.StartWithReadyStack(t, controllertest.VolumeSpec)
	env.TerminateDeletedPods(t)
	env.UpdateSpec(t, "my", controllertest.ChangedVolumeSpec)
	pod := env.WaitForPreflightPod(t, nil)
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightInProgress)

	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	env.Get(t, "my", before)
	orphan := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`))
	env.Patch(t, before, orphan)
	env.AssignToNode(t, pod)
	env.SetPodStatus(t, pod, controllertest.ContainersReadyStatus())
	stack := env.GetStack(t)
	controllertest.WaitUntil(t, func() error {
		if env.Get(t, "my", after); !metav1.IsControlledBy(after, stack) || after.Generation == before.Generation {
			return fmt.Errorf("generation %d, owners %v", after.Generation, after.OwnerReferences)
		}
		return nil
	})
	env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	for line := range strings.Lines(controllertest.OperatorLog().String()) {
		if strings.Contains(line, "step panicked") && strings.Contains(line, env.Namespace) {
			t.Errorf("a step panicked: %s", line)
		}
	}
}

// stackReplacer replaces the stack with another stack that has the same name, immediately before the first status
// write.
type stackReplacer struct {
	next  http.RoundTripper
	do    func()
	once  sync.Once
	codes []int
}

// RoundTrip replaces the stack before the first write of its status, and records the status code of the response.
func (s *stackReplacer) RoundTrip(request *http.Request) (*http.Response, error) {
	status := strings.HasSuffix(request.URL.Path, "/llamastackdistributions/my/status")
	first := false
	if status {
		s.once.Do(func() { first = true; s.do() })
	}
	response, err := s.next.RoundTrip(request)
	if first && err == nil {
		s.codes = append(s.codes, response.StatusCode)
	}
	return response, err
}

// TestStatusOfAnotherStackOfTheName checks that the status of a stack is never written to another stack with the same
// name.
func TestStatusOfAnotherStackOfTheName(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewConfigMap("mine", "config.yaml", "distro_name: mine\napis: []\nproviders: {}\n"))
	s := &stackReplacer{}
	s.do = func() {
		if err := env.Client.Delete(t.Context(), env.NewStack(t, "my", `{}`)); err != nil {
			t.Error(err)
		}
		next := env.NewStack(t, "my", `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`)
		if err := env.Client.Create(t.Context(), next); err != nil {
			t.Error(err)
		}
	}
	r := env.StartReconciler(t, env.Namespace, func(next http.RoundTripper) http.RoundTripper {
		s.next = next
		return s
	})
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: env.Key("my")}); err != nil {
		t.Errorf("the reconcile of a replaced stack failed: %v", err)
	}
	if diff := cmp.Diff([]int{http.StatusUnprocessableEntity}, s.codes); diff != "" {
		t.Errorf("responses to the first write of the status (-want +got):\n%s", diff)
	}
	// The children of the first stack still exist, because no garbage collector runs in this test.
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonOwnershipConflict)
}
