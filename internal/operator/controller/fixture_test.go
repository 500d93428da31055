package controller

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// fixture replaces an operator in tests of single steps. It is a reconciler whose client keeps its objects in memory
// and does not need an API server.
type fixture struct {
	*Reconciler
	client.Client
	recorder *events.FakeRecorder
	writes   []string
	status   *v1alpha2.LlamaStackDistributionStatus // as it was written last
}

// newFixture returns a fixture with objects in its cluster.
func newFixture(t *testing.T, objects ...client.Object) *fixture {
	t.Helper()
	return newFixtureOn(t, false, nil, objects...)
}

// servingClient is a client for a cluster that serves more kinds than its scheme contains.
type servingClient struct {
	client.Client
	mapper meta.RESTMapper
}

// RESTMapper returns the kinds that the cluster serves.
func (c servingClient) RESTMapper() meta.RESTMapper { return c.mapper }

// newFixtureOn returns a fixture with objects in a cluster, which may be OpenShift, and may serve optional kinds.
func newFixtureOn(
	t *testing.T, openShift bool, serves []schema.GroupVersionKind, objects ...client.Object,
) *fixture {
	t.Helper()
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	f := &fixture{recorder: events.NewFakeRecorder(10)}
	wrote := func(verb string, object client.Object) {
		f.writes = append(f.writes, verb+" "+object.GetName())
	}
	f.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithReturnManagedFields().
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				wrote("create", object)
				return c.Create(ctx, object, options...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch,
				options ...client.PatchOption,
			) error {
				wrote("patch", object)
				return c.Patch(ctx, object, patch, options...)
			},
			SubResourcePatch: func(_ context.Context, _ client.Client, _ string, object client.Object, _ client.Patch,
				_ ...client.SubResourcePatchOption,
			) error {
				if written, ok := object.(*stack); ok {
					f.status = &written.Status
				}
				return nil
			},
			Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				wrote("delete", object)
				return c.Delete(ctx, object, options...)
			},
		}).Build()
	optional := meta.NewDefaultRESTMapper(nil)
	for _, kind := range serves {
		optional.Add(kind, meta.RESTScopeNamespace)
	}
	direct := servingClient{f.Client, meta.MultiRESTMapper{f.RESTMapper(), optional}}
	f.Reconciler, err = NewDirect(t.Context(), f.recorder, Options{
		Direct: direct, OpenShift: openShift, OperatorNamespace: names.OperatorNamespace, OperatorVersion: "v1.2.3",
	})
	testutil.Must(t, err)
	return f
}

// runSteps runs the steps up to the named step, and returns the resulting state and the error of the named step. The
// earlier steps must succeed.
func (f *fixture) runSteps(t *testing.T, stack *stack, last string) (*state, error) {
	t.Helper()
	s := &state{stack: stack}
	var err error
	if s.workload, err = f.readWorkload(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	end := slices.IndexFunc(steps, func(s step) bool { return s.name == last })
	for _, step := range steps[:end] {
		if err := step.run(t.Context(), f.Reconciler, s); err != nil {
			t.Fatalf("step %s failed before step %s: %v", step.name, last, err)
		}
	}
	return s, steps[end].run(t.Context(), f.Reconciler, s)
}

// checkFailure compares the error of a step with a failure. Nil means that the step must not fail.
func checkFailure(t *testing.T, err error, want *status.Failure) {
	t.Helper()
	var got *status.Failure
	if err != nil {
		got = classify(err, "")
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(status.Failure{}, "Err")); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
}

// conditionTexts returns the status, reason and message of each condition in a report, by type.
func conditionTexts(r *report.Report) map[string]string {
	conditions := map[string]string{}
	for _, c := range r.Conditions {
		conditions[c.Type] = string(c.Status) + " " + c.Reason + ": " + c.Message
	}
	return conditions
}

// eventTexts returns the type, reason and note of each event in a report.
func eventTexts(r *report.Report) []string {
	var events []string
	for _, e := range r.Events {
		events = append(events, e.Type+" "+e.Reason+": "+e.Note)
	}
	return events
}

// createObjects adds objects to the cluster.
func (f *fixture) createObjects(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		testutil.Must(t, f.Create(t.Context(), object))
	}
	f.writes = nil
}

// applyStack runs the steps up to apply, so that the stack runs with its spec.
func (f *fixture) applyStack(t *testing.T, spec string) {
	t.Helper()
	if _, err := f.runSteps(t, testutil.NewStack(t, spec), "apply"); err != nil {
		t.Fatal(err)
	}
	f.writes = nil
}
