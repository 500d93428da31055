package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// setScale sets the number of replicas as an autoscaler or kubectl scale does.
func setScale(t *testing.T, env *controllertest.Environment, object client.Object, name string, replicas int32) {
	t.Helper()
	env.Get(t, name, object)
	scale := &autoscalingv1.Scale{}
	testutil.Must(t, env.Client.SubResource("scale").Get(t.Context(), object, scale))
	scale.Spec.Replicas = replicas
	testutil.Must(t, env.Client.SubResource("scale").Update(t.Context(), object, client.WithSubResourceBody(scale)))
}

// recordReplicas watches the replicas field of a Deployment. It returns every value that differs from the previous one.
func recordReplicas(t *testing.T, env *controllertest.Environment) func() []int32 {
	t.Helper()
	watching, err := client.NewWithWatch(controllertest.ControlPlane().Config, client.Options{})
	testutil.Must(t, err)
	events, err := watching.Watch(t.Context(), &appsv1.DeploymentList{}, client.InNamespace(env.Namespace))
	testutil.Must(t, err)
	t.Cleanup(events.Stop)
	var mu sync.Mutex
	var history []int32
	go func() {
		for event := range events.ResultChan() {
			deployment, ok := event.Object.(*appsv1.Deployment)
			if !ok {
				continue
			}
			mu.Lock()
			if now := *deployment.Spec.Replicas; len(history) == 0 || history[len(history)-1] != now {
				history = append(history, now)
			}
			mu.Unlock()
		}
	}()
	return func() []int32 {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(history)
	}
}

// TestAutoscaling checks that a Deployment keeps its five replicas when an autoscaler is added and removed, and that
// the number is never reset to one in between. The operator does not overwrite the autoscaler's number. The number in
// the spec takes effect when the user changes it.
func TestAutoscaling(t *testing.T) {
	const version = "autoscaling"
	spec := func(replicas, autoscaling string) string {
		return fmt.Sprintf(`{distribution: {name: starter}, workload: {%s %s}}`, replicas, autoscaling)
	}
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, version)
	history := recordReplicas(t, env)
	want := func(numbers ...int32) {
		t.Helper()
		env.WaitUntilIdle(t, version)
		controllertest.WaitUntil(t, func() error {
			if got := history(); !slices.Equal(got, numbers) {
				return fmt.Errorf("numbers of replicas over time %v, want %v", got, numbers)
			}
			return nil
		})
	}
	env.Create(t, env.NewStack(t, "my", spec("replicas: 5", "")))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	want(5)

	env.UpdateSpec(t, "my", spec("replicas: 5,", "autoscaling: {maxReplicas: 9}"))
	env.WaitForChild(t, "my-hpa", autoscaler)
	want(5)
	env.UpdateSpec(t, "my", spec("replicas: 5", ""))
	env.WaitForNoChild(t, "my-hpa", autoscaler)
	want(5)

	env.UpdateSpec(t, "my", spec("", "autoscaling: {minReplicas: 2, maxReplicas: 9}"))
	env.WaitForChild(t, "my-hpa", autoscaler)
	want(5)
	setScale(t, env, &appsv1.Deployment{}, "my", 7)
	env.UpdateSpec(t, "my", spec("", "autoscaling: {minReplicas: 3, maxReplicas: 9}"))
	want(5, 7)
	env.UpdateSpec(t, "my", spec("", ""))
	env.WaitForNoChild(t, "my-hpa", autoscaler)
	want(5, 7)
	condition := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated,
		v1alpha2.ReasonDeploymentUpdateSucceeded)
	if kept := "until you change spec.workload.replicas from 1, the Deployment keeps the 7 replicas that the autoscaler set"; !strings.Contains(condition.Message, kept) {
		t.Errorf("message %q, want %q in it", condition.Message, kept)
	}
	setScale(t, env, &appsv1.Deployment{}, "my", 6)
	want(5, 7, 6, 7) // the operator reverts this edit

	setScale(t, env, &v1alpha2.LlamaStackDistribution{}, "my", 2)
	want(5, 7, 6, 7, 2)
	env.UpdateSpec(t, "my", spec("replicas: 2,", "autoscaling: {minReplicas: 3, maxReplicas: 9}"))
	env.WaitForChild(t, "my-hpa", autoscaler)
	want(5, 7, 6, 7, 2, 3)

	setScale(t, env, &v1alpha2.LlamaStackDistribution{}, "my", 0)
	want(5, 7, 6, 7, 2, 3, 0)
	env.WaitForCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutInProgress)
	setScale(t, env, &v1alpha2.LlamaStackDistribution{}, "my", 1)
	want(5, 7, 6, 7, 2, 3, 0, 3)
}
