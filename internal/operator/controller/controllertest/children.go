package controllertest

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// WaitForChild waits until an object exists in the test's namespace, and reads it.
func (env *Environment) WaitForChild(t *testing.T, name string, child client.Object) {
	t.Helper()
	WaitUntil(t, func() error { return env.Client.Get(t.Context(), env.Key(name), child) })
}

// WaitForNoChild waits until an object does not exist in the test's namespace.
func (env *Environment) WaitForNoChild(t *testing.T, name string, child client.Object) {
	t.Helper()
	WaitUntil(t, func() error {
		err := env.Client.Get(t.Context(), env.Key(name), child)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return fmt.Errorf("%T %q still exists", child, name)
		}
	})
}

// MarkDeploymentReady writes the status of a Deployment as a cluster's controllers do after the rollout: all replicas
// are updated, ready and available.
func (env *Environment) MarkDeploymentReady(t *testing.T, name string) {
	t.Helper()
	if env.DialServer != nil {
		env.createServingPod(t, name)
	}
	deployment := &appsv1.Deployment{}
	env.Get(t, name, deployment)
	patch := client.MergeFrom(deployment.DeepCopy())
	wanted := *deployment.Spec.Replicas
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           wanted, UpdatedReplicas: wanted, ReadyReplicas: wanted, AvailableReplicas: wanted,
	}
	if err := env.Client.Status().Patch(t.Context(), deployment, patch); err != nil {
		t.Fatal(err)
	}
}

// CheckDeploymentUnchanged checks that the Deployment of the stack "my" has not changed.
func (env *Environment) CheckDeploymentUnchanged(t *testing.T, before *appsv1.Deployment) {
	t.Helper()
	now := &appsv1.Deployment{}
	env.Get(t, "my", now)
	if now.UID != before.UID || now.Generation != before.Generation ||
		now.Annotations[names.AnnotationRendered] != before.Annotations[names.AnnotationRendered] {
		t.Errorf("the Deployment was written: generation %d, want %d", now.Generation, before.Generation)
	}
}

// WaitForDeploymentUpdate waits until the Deployment of the stack "my" has a generation other than that of `before`, an
// earlier copy of the Deployment.
func (env *Environment) WaitForDeploymentUpdate(t *testing.T, before *appsv1.Deployment) {
	t.Helper()
	WaitUntil(t, func() error {
		now := &appsv1.Deployment{}
		if env.Get(t, "my", now); now.Generation == before.Generation {
			return fmt.Errorf("generation %d", now.Generation)
		}
		return nil
	})
}

// MarkDeploymentReadyAfterUpdate waits until the operator has observed the current generation of the stack, and then
// marks its Deployment ready.
func (env *Environment) MarkDeploymentReadyAfterUpdate(t *testing.T, name string) {
	t.Helper()
	WaitUntil(t, func() error {
		object := &v1alpha2.LlamaStackDistribution{}
		env.Get(t, name, object)
		if object.Status.ObservedGeneration != object.Generation {
			return fmt.Errorf("generation %d of %d", object.Status.ObservedGeneration, object.Generation)
		}
		return nil
	})
	env.MarkDeploymentReady(t, name)
}

// CheckNoChildren checks that the operator has created no children in the test's namespace.
func (env *Environment) CheckNoChildren(t *testing.T) {
	t.Helper()
	labels := client.MatchingLabels{names.LabelManagedBy: names.ManagedBy}
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &corev1.ConfigMapList{},
		&corev1.PersistentVolumeClaimList{}, &corev1.SecretList{},
	} {
		if err := env.Client.List(t.Context(), list, client.InNamespace(env.Namespace), labels); err != nil {
			t.Fatal(err)
		}
		if n := meta.LenList(list); n > 0 {
			t.Errorf("%T contains %d children, want none", list, n)
		}
	}
}

// StorageSecretOf returns the name of the Secret with derived values that the pods of a Deployment read.
func StorageSecretOf(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil &&
			names.IsStorageSecret("my", from.SecretKeyRef.Name) {
			return from.SecretKeyRef.Name
		}
	}
	t.Fatalf("the pods read no derived value: %+v", deployment.Spec.Template.Spec.Containers[0].Env)
	return ""
}
