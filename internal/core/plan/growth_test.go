package plan_test

import (
	"errors"
	"runtime"
	"slices"
	"sort"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/shape"
)

// These are the limits for the cost of one object. The limits for many objects are in test/scale.
const (
	// mostAllocated is the maximum total number of bytes that the pipeline can allocate for an object. Fewer bytes are in
	// use at any one time.
	mostAllocated = 192 << 20
	// mostGrowth is the maximum factor by which allocations can grow for an object that is four times as large. Quadratic
	// growth would be a factor of sixteen.
	mostGrowth = 5
	// noise is the size of occasional allocations that do not depend on the object, such as buffers and caches.
	noise = 4 << 20
)

// shaped returns the input of the pipeline for a shape.
func shaped(t testing.TB, s *shape.Shape, n int) plan.Input {
	t.Helper()
	stack, err := s.Of(n)
	if err != nil {
		t.Fatal(err)
	}
	in := complete(t, stack.Object)
	if stack.Base != nil {
		in.Base = &plan.Base{Data: stack.Base, Source: v1alpha2.ConfigSourceConfigMap}
	}
	if stack.Override != nil {
		in.Override = &plan.Override{Namespace: "shared", ConfigMapName: "mine", Key: "config.yaml", Data: stack.Override}
	}
	return in
}

// pipeline validates an object and builds its plan, as the controller and the command line do. It builds no plan for an
// invalid object.
func pipeline(t testing.TB, in plan.Input) {
	t.Helper()
	var errs field.ErrorList
	if in.Intent, _, errs = validate.Spec(in.Object); len(errs) > 0 {
		return
	}
	if _, err := plan.Build(in); err != nil {
		if _, users := errors.AsType[*plan.ConfigError](err); !users {
			t.Fatal(err)
		}
	}
}

// worked returns the largest n, to within a tenth, for which the spec of a shape is not too large to be planned. The
// search builds mainly small objects, because objects grow with n.
func worked(t testing.TB, s *shape.Shape) int {
	t.Helper()
	fits := func(n int) bool { return validate.SpecBytes(shaped(t, s, n).Object) <= validate.MaxSpecBytes }
	if fits(s.Most) {
		return s.Most
	}
	var less []int
	for n := s.Most * 9 / 10; n > 0; n = n * 9 / 10 {
		less = append(less, n)
	}
	return less[sort.Search(len(less)-1, func(i int) bool { return fits(less[i]) })]
}

// allocated returns the number of bytes that the pipeline allocates for an object.
func allocated(t *testing.T, in plan.Input) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	pipeline(t, in)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The pipeline's memory use grows in proportion to the object, and is limited for the largest object.
func TestMemoryGrowsWithTheObject(t *testing.T) {
	pipeline(t, input(t, "{resources: {models: [m]}, providers: {inference: {provider: vllm, endpoint: http://a}}}")) // loads the shared data, so that it is not counted below
	for i := range shape.All {
		s := &shape.All[i]
		t.Run(s.Name, func(t *testing.T) {
			// These are the sizes of the largest object that the API server accepts, and of the largest object with a plan.
			for _, n := range slices.Compact([]int{s.Most, worked(t, s)}) {
				quarter, whole := allocated(t, shaped(t, s, n/4)), allocated(t, shaped(t, s, n))
				if whole > mostAllocated {
					t.Errorf("%d MiB are allocated for n = %d, want at most %d MiB", whole>>20, n, mostAllocated>>20)
				}
				if whole > mostGrowth*quarter+noise {
					t.Errorf("allocations grow too fast: %d kB for n = %d, and %d kB for n = %d", quarter>>10, n/4, whole>>10, n)
				}
			}
		})
	}
}
