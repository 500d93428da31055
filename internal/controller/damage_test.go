package controller_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// TestOwnerVanishesWhileAChangeIsTried checks that a Deployment that loses its owner reference during a preflight is
// adopted again, and that the preflight continues.
func TestOwnerVanishesWhileAChangeIsTried(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serving(t, filed)
	b.removes(t)
	b.respec(t, "my", changed)
	pod := b.try(t, nil)
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightInProgress)

	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	b.get(t, "my", before)
	orphan := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`))
	if err := b.Patch(t.Context(), before, orphan); err != nil {
		t.Fatal(err)
	}
	b.place(t, pod)
	b.kubelet(t, pod, isReady())
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	eventually(t, func() error {
		if b.get(t, "my", after); !metav1.IsControlledBy(after, stack) || after.Generation == before.Generation {
			return fmt.Errorf("generation %d, owners %v", after.Generation, after.OwnerReferences)
		}
		return nil
	})
	b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	for line := range strings.Lines(logs.String()) {
		if strings.Contains(line, "Step panicked") && strings.Contains(line, b.namespace) {
			t.Errorf("a step panicked: %s", line)
		}
	}
}

// TestRecordOfAGenerationThatNeverWas checks that a record with a generation that the stack never had counts as
// damaged. It is rewritten, and neither the status nor the next change waits for that generation.
func TestRecordOfAGenerationThatNeverWas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serving(t, `{distribution: {name: starter}}`)
	b.record(t, func(record map[string]any) { record["generation"] = 99 })
	deployment := &appsv1.Deployment{}
	b.respec(t, "my", `{distribution: {name: starter}, workload: {replicas: 3}}`)
	eventually(t, func() error {
		if b.get(t, "my", deployment); *deployment.Spec.Replicas != 3 || strings.Contains(deployment.Annotations[names.AnnotationRendered], `"generation":99`) {
			return fmt.Errorf("%d replicas, record %s", *deployment.Spec.Replicas,
				deployment.Annotations[names.AnnotationRendered])
		}
		return nil
	})
	b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
}

// swap replaces the stack with another of the same name right before the first status is written.
type swap struct {
	next http.RoundTripper
	do   func()
	once sync.Once

	mu    sync.Mutex
	codes []int
}

func (s *swap) RoundTrip(request *http.Request) (*http.Response, error) {
	status := strings.HasSuffix(request.URL.Path, "/llamastackdistributions/my/status")
	first := false
	if status {
		s.once.Do(func() { first = true; s.do() })
	}
	response, err := s.next.RoundTrip(request)
	if first && err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.codes = append(s.codes, response.StatusCode)
	}
	return response, err
}

// TestStatusOfAnotherStackOfTheName checks that the status of a stack is never written to another stack of the same
// name.
func TestStatusOfAnotherStackOfTheName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(t, configMap("mine", "config.yaml", "version: 2\napis: []\nproviders: {}\n"))
	s := &swap{}
	s.do = func() {
		if err := b.Delete(t.Context(), b.stack(t, "my", `{}`)); err != nil {
			t.Error(err)
		}
		next := b.stack(t, "my", `{distribution: {image: "quay.io/me/own:1"}, overrideConfig: {configMapName: mine}}`)
		if err := b.Create(t.Context(), next); err != nil {
			t.Error(err)
		}
	}
	b.start(t, b.namespace, func(next http.RoundTripper) http.RoundTripper {
		s.next = next
		return s
	})
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	eventually(t, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.codes) == 0 {
			return fmt.Errorf("no status was written")
		}
		return nil
	})
	if s.codes[0] != http.StatusUnprocessableEntity {
		t.Errorf("the status of the first stack on the second one: code %d, want %d", s.codes[0], http.StatusUnprocessableEntity)
	}
	// The children of the first stack still exist, because no garbage collector runs here.
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonOwnershipConflict)
	if strings.Contains(logs.String(), "write status:") {
		t.Error("a status that is nobody's any more is logged as an error")
	}
}
