package controller_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// respec gives the stack another spec.
func (b *bench) respec(t *testing.T, name, spec string) {
	t.Helper()
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec", "value": b.stack(t, name, spec).Spec}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Patch(t.Context(), b.stack(t, name, "{}"), client.RawPatch(types.JSONPatchType, patch)); err != nil {
		t.Fatal(err)
	}
}

// appears waits for a child.
func (b *bench) appears(t *testing.T, name string, child client.Object) {
	t.Helper()
	eventually(t, func() error { return b.Get(t.Context(), b.key(name), child) })
}

// goes waits until there is no such child.
func (b *bench) goes(t *testing.T, name string, child client.Object) {
	t.Helper()
	eventually(t, func() error {
		err := b.Get(t.Context(), b.key(name), child)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("%T %q is still there: %w", child, name, err)
	})
}

func TestDisruptionBudget(t *testing.T) {
	b := newBench(t)
	b.start(t, "budget")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, workload: {replicas: 2}}`))
	budget := &policyv1.PodDisruptionBudget{}
	b.appears(t, "my-pdb", budget)
	want := func(what string, minAvailable, maxUnavailable *intstr.IntOrString) {
		t.Helper()
		eventually(t, func() error {
			b.get(t, "my-pdb", budget)
			got := policyv1.PodDisruptionBudgetSpec{MinAvailable: budget.Spec.MinAvailable, MaxUnavailable: budget.Spec.MaxUnavailable}
			if diff := cmp.Diff(policyv1.PodDisruptionBudgetSpec{MinAvailable: minAvailable, MaxUnavailable: maxUnavailable}, got); diff != "" {
				return fmt.Errorf("%s (-want +got):\n%s", what, diff)
			}
			return nil
		})
	}
	one, half, three := new(intstr.FromInt32(1)), new(intstr.FromString("50%")), intstr.FromInt32(3)
	want("of two replicas", nil, one)

	edited := budget.DeepCopy()
	edited.Spec.MaxUnavailable = &three
	if err := b.Patch(t.Context(), edited, client.MergeFrom(budget)); err != nil {
		t.Fatal(err)
	}
	want("after somebody's edit", nil, one)

	b.respec(t, "my", `{distribution: {name: starter}, workload: {replicas: 1, podDisruptionBudget: {minAvailable: 50%}}}`)
	want("configured the other way", half, nil)
	b.respec(t, "my", `{distribution: {name: starter}, workload: {replicas: 1}}`)
	b.goes(t, "my-pdb", budget)
}
