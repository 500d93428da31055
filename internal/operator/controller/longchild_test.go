package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestRunningWithLongChildren checks that the operator works with children that its cache does not hold whole. It must
// not remove what other clients wrote into them, it must notice changes to them, and it must not write them again.
func TestRunningWithLongChildren(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	operator := env.StartOperator(t, "long-children")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, networking: {allowedFrom: {namespaces: [web]}}, workload: {storage: {size: 1Gi}}}`))
	children := map[string]client.Object{
		"my": &appsv1.Deployment{}, "my-service": &corev1.Service{}, "my-pvc": &corev1.PersistentVolumeClaim{},
		"my-network-policy": &networkingv1.NetworkPolicy{},
	}
	for name, child := range children {
		env.WaitForChild(t, name, child)
	}
	before := len(env.WaitUntilIdle(t, "long-children"))
	labels := map[string]string{}
	for i := range 3000 {
		labels[fmt.Sprintf("%s.example/%d", strings.Repeat("a", 50), i)] = strings.Repeat("v", 63)
	}
	for name, child := range children {
		env.Get(t, name, child)
		patch := client.MergeFrom(child.DeepCopyObject().(client.Object))
		all := maps.Clone(labels)
		maps.Copy(all, child.GetLabels())
		child.SetLabels(all)
		child.SetAnnotations(with(child.GetAnnotations(), "other.example/a", "b"))
		child.SetFinalizers(append(child.GetFinalizers(), "other.example/f"))
		env.Patch(t, child, patch)
	}
	t.Cleanup(func() { dropFinalizers(t, env, children) })
	if calls := env.WaitUntilIdle(t, "long-children")[before:]; controllertest.HasWrites(calls) {
		t.Errorf("labels of another client caused writes: %q", calls)
	}

	// The operator restores what another client changed, also in children whose status it ignores.
	for name, child := range children {
		env.Get(t, name, child)
		patch := client.MergeFrom(child.DeepCopyObject().(client.Object))
		child.SetLabels(with(child.GetLabels(), names.LabelPartOf, "other"))
		env.Patch(t, child, patch)
		controllertest.WaitUntil(t, func() error {
			if env.Get(t, name, child); child.GetLabels()[names.LabelPartOf] != names.PartOf {
				return fmt.Errorf("a label of %T is not restored", child)
			}
			return nil
		})
	}

	// A restart causes no write, and a change to the stack changes only what it must.
	before = len(env.WaitUntilIdle(t, "long-children"))
	operator.Stop(t)
	env.StartOperator(t, "long-children")
	if calls := env.WaitUntilIdle(t, "long-children")[before:]; controllertest.HasWrites(calls) {
		t.Errorf("a restart caused writes: %q", calls)
	}
	env.UpdateSpec(t, "my", `{distribution: {name: starter}, networking: {allowedFrom: {namespaces: [web]}}, workload: {storage: {size: 1Gi}, replicas: 0}}`)
	deployment := &appsv1.Deployment{}
	controllertest.WaitUntil(t, func() error {
		if env.Get(t, "my", deployment); *deployment.Spec.Replicas != 0 {
			return errors.New("the Deployment is not scaled")
		}
		return nil
	})
	for name, child := range children {
		env.Get(t, name, child)
		kept := maps.Clone(child.GetLabels())
		maps.DeleteFunc(kept, func(key, _ string) bool { _, ok := labels[key]; return !ok })
		if diff := cmp.Diff(labels, kept); diff != "" || child.GetAnnotations()["other.example/a"] != "b" ||
			!slices.Contains(child.GetFinalizers(), "other.example/f") {
			t.Errorf("%T lost metadata of another client: annotations %v, finalizers %v, labels (-want +got):\n%s",
				child, child.GetAnnotations(), child.GetFinalizers(), diff)
		}
	}
}

func with(entries map[string]string, key, value string) map[string]string {
	all := maps.Clone(entries)
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	return all
}

// dropFinalizers removes all finalizers, so that the objects can be deleted.
func dropFinalizers(t *testing.T, env *controllertest.Environment, children map[string]client.Object) {
	t.Helper()
	for name, child := range children {
		if err := env.Client.Get(context.Background(), env.Key(name), child); err != nil {
			continue // it was deleted
		}
		patch := client.MergeFrom(child.DeepCopyObject().(client.Object))
		child.SetFinalizers(nil)
		if err := env.Client.Patch(context.Background(), child, patch); err != nil {
			t.Error(err)
		}
	}
}
