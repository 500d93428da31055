package controller_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
)

// providerLabel returns the labels of an image with an external provider whose url must be a string.
func providerLabel(api string) map[string]string {
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

// external waits until the status has these external providers, each as id, phase and message.
func (b *bench) external(t *testing.T, stack string, want ...string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	eventually(t, func() error {
		b.get(t, stack, object)
		var got []string
		for _, one := range object.Status.ExternalProviders {
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", one.ProviderID, one.Phase, one.Message), ": "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New("external providers (-want +got):\n" + diff)
		}
		return nil
	})
	return object
}

// inits returns the statuses of the pod's init containers, by their names. Containers without a given state are
// waiting.
func inits(set *appsv1.ReplicaSet, states map[string]corev1.ContainerState) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, container := range set.Spec.Template.Spec.InitContainers {
		state, ok := states[container.Name]
		if !ok {
			state = waitingFor("PodInitializing", "")
		}
		statuses = append(statuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, State: state, Ready: state.Terminated != nil &&
				state.Terminated.ExitCode == 0,
		})
	}
	return statuses
}

// saysOf writes the status of a pod.
func (b *bench) saysOf(t *testing.T, pod *corev1.Pod, status corev1.PodStatus) {
	t.Helper()
	pod.Status = status
	if err := b.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// eventOf waits for an event with the note.
func (b *bench) eventOf(t *testing.T, reason, note string) {
	t.Helper()
	eventually(t, func() error {
		var notes []string
		for _, event := range b.events(t) {
			if event.Reason == reason {
				notes = append(notes, event.Note)
			}
		}
		if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, note) }) {
			return fmt.Errorf("events %s: %q, want one with %q", reason, notes, note)
		}
		return nil
	})
}

// TestExternalProviders follows an external provider from the label of its image into the configuration, and through
// the pods into the status. The result is kept: the registry is asked once, and a restart of the operator costs
// nothing.
func TestExternalProviders(t *testing.T) {
	b := newBench(t)
	b.configured = true
	asked := b.serve(t, "0.7.3")
	operator := b.start(t, "external")
	r := b.registry(t)
	labelled, digest := r.push(t, "team/labelled:1", providerLabel("inference"))
	bare, bareDigest := r.push(t, "team/bare:1", nil)
	b.create(t, b.stack(t, "my", fmt.Sprintf(`
distribution: {name: starter, version: "0.7"}
externalProviders:
  inference: [{providerId: labelled, image: %q, config: {url: "http://a"}}, {providerId: bare, image: %q}]
`, labelled, bare)))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	stack := b.external(t, "my", "labelled Pending", "bare Pending")
	if one := stack.Status.ExternalProviders[0]; one.Image != labelled ||
		one.InitContainerName != "external-provider-labelled" {
		t.Errorf("status %+v", one)
	}
	config := &corev1.ConfigMap{}
	b.get(t, stack.Status.ConfigGeneration.ConfigMapName, config)
	for _, want := range []string{
		"provider_type: remote::mine", "module: my_org.mine",
		"provider_type: " + externalprovider.UnknownType,
	} {
		if !strings.Contains(config.Data[names.ConfigFile], want) {
			t.Errorf("no %q in the configuration:\n%s", want, config.Data[names.ConfigFile])
		}
	}
	deployment := &appsv1.Deployment{}
	b.get(t, "my", deployment)
	var images []string
	for _, container := range deployment.Spec.Template.Spec.InitContainers {
		images = append(images, container.Image)
	}
	if want := []string{labelled + "@" + digest, bare + "@" + bareDigest}; !slices.Equal(images[:2], want) {
		t.Errorf("images %q, want those that were read: %q", images, want)
	}

	reads := tally(b.settled(t, "external"))
	// One of the two reads of the ServiceAccount is the read before its apply, as for any child.
	if reads["get serviceaccounts"] != 2 || reads["get secrets"] != 0 || reads["patch deployments"] != 1 {
		t.Errorf("calls for two images: %v, want the credentials to be read once, and one Deployment", reads)
	}

	set := b.replicaSet(t, "my", appsv1.ReplicaSetStatus{})
	ended, running := terminated(0, "Completed", ""), corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	pod := b.pod(t, set, corev1.PodStatus{InitContainerStatuses: inits(set, map[string]corev1.ContainerState{
		"external-provider-labelled": ended, "external-provider-bare": waitingFor("ErrImagePull", "unauthorized"),
	})})
	const refused = "the registry rejects the credentials; add a pull Secret to spec.workload.overrides.imagePullSecrets; see kubectl describe pod my-1-a"
	pull := fmt.Sprintf("Failed to pull provider image %q: %s", bare, refused)
	b.external(t, "my", "labelled Installing", "bare Failed: "+pull)
	eventually(t, func() error {
		return b.says(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed, fmt.Sprintf(
			`0/1 replicas available with current config: external provider "bare" of image %q, container "external-provider-bare": %s`, bare, pull))
	})
	b.eventOf(t, v1alpha2.EventExternalProviderFailed, fmt.Sprintf("External provider \"bare\" of image %q: Failed to pull", bare))

	conflict := `{"provider":"labelled","image":"x","message":"needs numpy>=3, the server has 2.1: add its wheel to the image"}`
	b.saysOf(t, pod, corev1.PodStatus{InitContainerStatuses: inits(set, map[string]corev1.ContainerState{
		"external-provider-labelled": ended, "external-provider-bare": ended, names.ExternalContainer: terminated(1, "Error", conflict),
	})})
	b.external(t, "my", "labelled Failed: needs numpy>=3, the server has 2.1: add its wheel to the image", "bare Installing")

	done := map[string]corev1.ContainerState{}
	for _, container := range set.Spec.Template.Spec.InitContainers {
		done[container.Name] = ended
	}
	b.saysOf(t, pod, corev1.PodStatus{
		InitContainerStatuses: inits(set, done),
		ContainerStatuses:     []corev1.ContainerStatus{{Name: "llama-stack", State: running}},
	})
	b.external(t, "my", "labelled Installing", "bare Installing")
	asked.providers.Store(new(`{"data": [{"api": "inference", "provider_id": "labelled", "provider_type": "remote::other"},
		{"api": "inference", "provider_id": "bare", "provider_type": "remote::bare"}]}`))
	b.saysOf(t, pod, corev1.PodStatus{InitContainerStatuses: inits(set, done), Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue},
	}})
	b.rollOut(t, "my")
	const differs = `the label of the image has the type "remote::mine", but the running server reports "remote::other", which takes precedence`
	b.external(t, "my", "labelled Ready: "+differs, "bare Ready")
	b.eventOf(t, v1alpha2.EventExternalProviderDiffers, differs)
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)

	before, requests := len(b.settled(t, "external")), r.requests.Load()
	r.down.Store(true)
	operator.stop(t)
	b.start(t, "external")
	if calls := b.settled(t, "external")[before:]; hasWrites(calls) {
		t.Errorf("a restart without the registry: %q", calls)
	}
	b.external(t, "my", "labelled Ready: "+differs, "bare Ready")
	if got := r.requests.Load(); got != requests {
		t.Errorf("%d requests for images that were read", got-requests)
	}
}

// TestExternalImagesAreRead checks that a registry that does not answer blocks no stack, and that it is not asked again
// when it answers. Without readLabels, it is never asked. A setting that violates the schema of a label is an error. A
// changed setting has the label read again.
func TestExternalImagesAreRead(t *testing.T) {
	b := newBench(t)
	b.configured = true
	b.start(t, "unread")
	r := b.registry(t)
	image, digest := r.push(t, "team/mine:1", providerLabel("inference"))
	spec := func(config string) string {
		return fmt.Sprintf("distribution: {name: starter}\nexternalProviders: {inference: [{providerId: mine, image: %q, config: %s}]}", image, config)
	}
	r.down.Store(true)
	b.create(t, b.stack(t, "down", spec("{url: a}")))
	b.condition(t, "down", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.eventOf(t, v1alpha2.EventImageLabelsUnreadable, `The labels of external providers cannot be read: "mine": read image `)
	copied := func(stack string) string {
		deployment := &appsv1.Deployment{}
		b.get(t, stack, deployment)
		return deployment.Spec.Template.Spec.InitContainers[0].Image
	}
	if got := copied("down"); got != image {
		t.Errorf("image %q, want %q", got, image)
	}
	r.down.Store(false)
	b.settled(t, "unread")
	requests := r.requests.Load()
	b.change(t, "down", func(s *v1alpha2.LlamaStackDistribution) {
		s.Spec.Workload = &v1alpha2.WorkloadSpec{Replicas: new(int32(2))}
	})
	b.settled(t, "unread")
	if got := r.requests.Load(); got != requests || copied("down") != image {
		t.Errorf("%d requests for an image that was tried, image %q", got-requests, copied("down"))
	}

	b.create(t, b.stack(t, "checked", spec("{url: 1}")))
	refused := b.condition(t, "checked", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationFailed)
	if !strings.Contains(refused.Message, "spec.externalProviders.inference[0].config.url") {
		t.Errorf("message %q", refused.Message)
	}
	b.respec(t, "checked", spec("{url: a}"))
	b.condition(t, "checked", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	if got := copied("checked"); got != image+"@"+digest {
		t.Errorf("image %q, want %q", got, image+"@"+digest)
	}
	r.push(t, "team/mine:1", providerLabel("safety")) // the tag moves, and the stack does not follow
	b.respec(t, "checked", spec("{uri: a}"))
	refused = b.condition(t, "checked", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationFailed)
	if !strings.Contains(refused.Message, "spec.externalProviders.inference[0].config.uri") {
		t.Errorf("message %q", refused.Message)
	}

	b.configure(t, operatorconfig.KeyRegistries, fmt.Sprintf("{insecure: [%q], readLabels: false}", r.host))
	requests = r.requests.Load()
	b.create(t, b.stack(t, "never", spec("{url: 1}")))
	b.condition(t, "never", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.settled(t, "unread")
	if got := r.requests.Load(); got != requests {
		t.Errorf("%d requests without readLabels", got-requests)
	}
	b.external(t, "never", "mine Pending")
	b.respec(t, "never", "{distribution: {name: starter}}")
	b.external(t, "never")
}

// TestExternalProviderOverride checks that an external provider that replaces another one is reported in an event of
// its own.
func TestExternalProviderOverride(t *testing.T) {
	b := newBench(t)
	b.configured = true
	b.start(t, "override")
	b.configure(t, operatorconfig.KeyRegistries, "readLabels: false")
	b.create(t, b.stack(t, "my", `
distribution: {name: starter}
providers: {inference: {id: mine, provider: vllm, endpoint: "http://vllm:8000"}}
externalProviders: {inference: [{providerId: mine, image: "example.com/mine:1"}]}
`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.eventOf(t, v1alpha2.EventExternalProviderOverride, `the external provider "mine" replaces spec.providers.inference`)
}
