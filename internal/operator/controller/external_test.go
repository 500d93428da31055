package controller_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// providerLabels returns the labels of an image with an external provider. The schema in the label requires that the
// setting url is a string.
func providerLabels(api string) map[string]string {
	return map[string]string{externalprovider.Label: base64.StdEncoding.EncodeToString([]byte(`
apiVersion: llamastack.io/v1alpha1
kind: ProviderPackage
metadata: {name: mine, version: "1.0", vendor: us}
spec:
  packageName: my_org.mine
  providerType: remote::mine
  api: ` + api + `
  configSchema: {type: object, additionalProperties: false, properties: {url: {type: string}}}
`))}
}

// waitForEventNote waits for an event with this reason whose note contains this text.
func waitForEventNote(t *testing.T, env *controllertest.Environment, reason, note string) {
	t.Helper()
	controllertest.WaitUntil(t, func() error {
		if notes := strings.Join(listEventNotes(t, env, reason), "\n"); !strings.Contains(notes, note) {
			return fmt.Errorf("events with reason %s: %s, want one that contains %q", reason, notes, note)
		}
		return nil
	})
}

// TestRunningExternalProviders follows an external provider from the label of its image into the configuration, and
// through the pods into the status. The operator reads the image once.
func TestRunningExternalProviders(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	asked := env.StartServer(t, "0.7.3")
	env.StartOperator(t, "external")
	r := env.StartRegistry(t)
	labeled, digest := r.PushImage(t, "team/labeled:1", providerLabels("inference"))
	bare, bareDigest := r.PushImage(t, "team/bare:1", nil)
	env.Create(t, env.NewStack(t, "my", fmt.Sprintf(`
distribution: {name: starter, version: "0.7"}
externalProviders:
  inference: [{providerId: labeled, image: %q, config: {url: "http://a"}}, {providerId: bare, image: %q}]
`, labeled, bare)))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	stack := env.WaitForExternalProviders(t, "my", "labeled Pending", "bare Pending")
	checkRenderedProviders(t, env, stack, labeled+"@"+digest, bare+"@"+bareDigest)

	reads := controllertest.CountCalls(env.WaitUntilIdle(t, "external"))
	if reads["get serviceaccounts"] != 1 || reads["get secrets"] != 0 || reads["patch deployments"] != 1 {
		t.Errorf("calls for two images: %v, want one read of the credentials and one write of the Deployment", reads)
	}

	set := env.CreateReplicaSet(t, "my", appsv1.ReplicaSetStatus{})
	ended := controllertest.TerminatedState(0, "Completed", "")
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	states := map[string]corev1.ContainerState{
		"external-provider-labeled": ended,
		"external-provider-bare":    controllertest.WaitingState("ErrImagePull", "unauthorized"),
	}
	pod := env.CreatePod(t, set, corev1.PodStatus{
		InitContainerStatuses: controllertest.InitContainerStatuses(set, states),
	})
	const refused = "the registry requires credentials, or rejects the credentials; add a valid pull Secret to spec.workload.overrides.imagePullSecrets; see kubectl describe pod my-1-a"
	pull := fmt.Sprintf("Failed to pull provider image %q: %s", bare, refused)
	env.WaitForExternalProviders(t, "my", "labeled Installing", "bare Failed: "+pull)
	controllertest.WaitUntil(t, func() error {
		return env.CheckCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed, fmt.Sprintf(
			`0/1 replicas available with current config: external provider "bare" from image %q, container "external-provider-bare": %s`, bare, pull))
	})
	waitForEventNote(t, env, v1alpha2.EventExternalProviderFailed, fmt.Sprintf("External provider \"bare\" in image %q: Failed to pull", bare))

	done := map[string]corev1.ContainerState{}
	for _, container := range set.Spec.Template.Spec.InitContainers {
		done[container.Name] = ended
	}
	env.SetPodStatus(t, pod, corev1.PodStatus{
		InitContainerStatuses: controllertest.InitContainerStatuses(set, done),
		ContainerStatuses:     []corev1.ContainerStatus{{Name: "llama-stack", State: running}},
	})
	env.WaitForExternalProviders(t, "my", "labeled Installing", "bare Installing")
	asked.Providers.Store(new(`{"data": [{"api": "inference", "provider_id": "labeled", "provider_type": "remote::other"},
		{"api": "inference", "provider_id": "bare", "provider_type": "remote::bare"}]}`))
	ready := controllertest.RunningPodStatus("", corev1.ConditionTrue)
	ready.InitContainerStatuses = controllertest.InitContainerStatuses(set, done)
	env.SetPodStatus(t, pod, ready)
	env.MarkDeploymentReady(t, "my")
	const differs = `the image's label specifies the type "remote::mine", but the running server reports and uses the type "remote::other"; correct the label`
	env.WaitForExternalProviders(t, "my", "labeled Ready: "+differs, "bare Ready")
	waitForEventNote(t, env, v1alpha2.EventExternalProviderDiffers, differs)
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)

	env.Create(t, env.NewStack(t, "unread", fmt.Sprintf(`
distribution: {name: starter, version: "0.7"}
externalProviders: {inference: [{providerId: unread, image: "%s/team/unread:1"}]}
`, r.Host)))
	waitForEventNote(t, env, v1alpha2.EventImageLabelsUnreadable, `cannot be read: "unread": `)
	env.WaitForExternalProviders(t, "my", "labeled Ready: "+differs, "bare Ready")
}

// checkRenderedProviders compares the configuration and the init containers with the images that were read.
func checkRenderedProviders(
	t *testing.T, env *controllertest.Environment, stack *v1alpha2.LlamaStackDistribution, read ...string,
) {
	t.Helper()
	if one := stack.Status.ExternalProviders[0]; !strings.HasPrefix(read[0], one.Image+"@") ||
		one.InitContainerName != "external-provider-labeled" {
		t.Errorf("status %+v", one)
	}
	config := &corev1.ConfigMap{}
	env.Get(t, stack.Status.ConfigGeneration.ConfigMapName, config)
	for _, want := range []string{
		"provider_type: remote::mine", "module: my_org.mine",
		"provider_type: " + externalprovider.UnknownType,
	} {
		if !strings.Contains(config.Data[names.ConfigFile], want) {
			t.Errorf("the configuration does not contain %q:\n%s", want, config.Data[names.ConfigFile])
		}
	}
	deployment := env.GetDeployment(t)
	var images []string
	for _, container := range deployment.Spec.Template.Spec.InitContainers {
		images = append(images, container.Image)
	}
	if !slices.Equal(images[:2], read) {
		t.Errorf("images %q, want the images that were read: %q", images, read)
	}
}
