package controller_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestRunningServerVersion checks that the operator queries the running server once for each complete rollout, with
// three requests, and once after a restart of the operator. The response causes one status write. The restart causes no
// calls to the API server.
func TestRunningServerVersion(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	asked := env.StartServer(t, "0.7.1")
	first := env.StartOperator(t, "version")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.WaitUntilIdle(t, "version")
	if got := asked.Requests.Load(); got != 0 {
		t.Errorf("%d requests to a stack without ready pods, want none", got)
	}
	before := len(env.WaitUntilIdle(t, "version"))
	env.MarkDeploymentReady(t, "my")
	stack := env.WaitForServerVersion(t, "my", "0.7.1")
	seen := env.WaitUntilIdle(t, "version")
	transition := "patch llamastackdistributions status my"
	if diff := cmp.Diff([]string{transition, transition}, seen[before:]); diff != "" {
		t.Errorf("calls after a rollout and a reported version (-want +got):\n%s", diff)
	}
	if got := env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonDistributionDefaultUsed); strings.Contains(got.Message, "release") {
		t.Errorf("message %q for a server with the expected release", got.Message)
	}
	if stack.Status.Version.LastUpdated == nil {
		t.Error("the version has no time")
	}
	first.Stop(t)
	env.StartOperator(t, "version")
	controllertest.WaitUntil(t, func() error {
		if got := asked.Requests.Load(); got != 6 {
			return fmt.Errorf("%d requests", got)
		}
		return nil
	})
	if now := env.WaitUntilIdle(t, "version"); len(now) != len(seen) {
		t.Errorf("calls after a restart: %v", now[len(seen):])
	}
	if got := asked.Requests.Load(); got != 6 {
		t.Errorf("%d requests, want three for the rollout and three for the restart", got)
	}
}

// TestServerReleaseDiffers checks that, if the release of a server differs from the release of its configuration, the
// status and an event report the difference and the remedy, and that the message disappears when the remedy is applied.
func TestServerReleaseDiffers(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	asked := env.StartServer(t, "1.9.2")
	env.Workers = true
	env.StartReconciler(t, "differs")
	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: mirror.example.com/starter:mine")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [llama]}}`))
	env.WaitForImage(t, "my", "mirror.example.com/starter:mine", v1alpha2.ImageFromOperatorConfig)
	env.MarkDeploymentReady(t, "my")
	env.WaitForServerVersion(t, "my", "1.9.2")
	expect := func(remedy string) {
		t.Helper()
		controllertest.WaitUntil(t, func() error {
			condition := env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated,
				v1alpha2.ReasonConfigGenerationSucceeded)
			if condition.Status != metav1.ConditionTrue || !strings.HasPrefix(condition.Message,
				"Generated config.yaml with ") ||
				!strings.HasSuffix(condition.Message, remedy) {
				return fmt.Errorf("condition %+v, want %q", condition, remedy)
			}
			return nil
		})
		env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	}
	note := "the server runs release 1.9.2, but its configuration is for release 0.7: use an image with a server release that this operator supports: " + strings.Join(release.Offered(), ", ")
	expect("; " + note)
	var notes []string
	for _, event := range env.ListEvents(t) {
		if event.Reason == v1alpha2.EventServerReleaseDiffers {
			notes = append(notes, event.Type+" "+event.Note)
		}
	}
	if diff := cmp.Diff([]string{"Warning " + note}, notes); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}

	version := "0.7.3"
	asked.Version.Store(&version)
	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: mirror.example.com/starter:0.7.3")
	env.WaitForImage(t, "my", "mirror.example.com/starter:0.7.3", v1alpha2.ImageFromOperatorConfig)
	env.WaitForServerVersion(t, "my", "") // the pods with the new image are starting
	env.MarkDeploymentReady(t, "my")
	env.WaitForServerVersion(t, "my", "0.7.3")
	expect("1 model")
}

// waitForRequests waits until a server has received this number of requests.
func waitForRequests(t *testing.T, server *controllertest.Server, count int32) {
	t.Helper()
	controllertest.WaitUntil(t, func() error {
		if got := server.Requests.Load(); got < count {
			return fmt.Errorf("%d requests, want %d", got, count)
		}
		return nil
	})
}

// createPodOnNode creates a pod of the ReplicaSet on a node, so that the pod still exists while it terminates. Its
// server runs the image.
func createPodOnNode(t *testing.T, env *controllertest.Environment, set *appsv1.ReplicaSet, image string) *corev1.Pod {
	t.Helper()
	set.Spec.Template.Spec.NodeName = "node"
	return env.CreatePod(t, set, controllertest.RunningPodStatus(image, corev1.ConditionTrue))
}

// TestServerWhileThePreviousPodTerminates checks that the operator asks a new pod for its version while a previous pod
// terminates, which it does not ask.
func TestServerWhileThePreviousPodTerminates(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	asked := env.StartServer(t, "0.7.3")
	env.Workers = true
	env.StartReconciler(t, "beside")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter, version: "0.7"}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	before := createPodOnNode(t, env, env.CreateReplicaSetRevision(t, "my", "1", appsv1.ReplicaSetStatus{}),
		"image@sha256:7")
	env.MarkDeploymentReady(t, "my")
	env.WaitForServerVersion(t, "my", "0.7.3")

	env.PatchStack(t, "my", func(s *v1alpha2.LlamaStackDistribution) { s.Spec.Distribution.Version = "0.8" })
	env.WaitForServerVersion(t, "my", "")
	set := env.CreateReplicaSetRevision(t, "my", "2", appsv1.ReplicaSetStatus{})
	requests := asked.Requests.Load()
	env.MarkDeploymentReadyAfterUpdate(t, "my")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	env.WaitUntilIdle(t, "beside")
	if got := asked.Requests.Load(); got != requests {
		t.Errorf("%d requests while only the pod of 0.7.3 is ready", got-requests)
	}
	version := "0.8.0"
	asked.Version.Store(&version)
	env.Delete(t, before)
	createPodOnNode(t, env, set, "image@sha256:8")
	env.WaitForServerVersion(t, "my", version)
}

// TestServerOfAMovedTag checks that the operator queries the server again after a node has pulled a different image
// because the tag in the image reference has moved.
func TestServerOfAMovedTag(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	asked := env.StartServer(t, "0.7.2")
	env.Workers = true
	env.StartReconciler(t, "moved")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	pod := createPodOnNode(t, env, env.CreateReplicaSetRevision(t, "my", "1", appsv1.ReplicaSetStatus{}), "image@sha256:2")
	env.MarkDeploymentReady(t, "my")
	env.WaitForServerVersion(t, "my", "0.7.2")
	env.WaitUntilIdle(t, "moved")
	requests := asked.Requests.Load()
	version := "0.7.3"
	asked.Version.Store(&version)
	env.SetPodStatus(t, pod, controllertest.RunningPodStatus("image@sha256:3", corev1.ConditionTrue))
	env.WaitForServerVersion(t, "my", version)
	env.WaitUntilIdle(t, "moved")
	if got := asked.Requests.Load(); got != requests+3 {
		t.Errorf("%d requests for the pod's new image, want 3", got-requests)
	}
}
