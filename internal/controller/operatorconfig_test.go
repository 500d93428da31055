package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
)

// configure sets one key of the operator's ConfigMap. An empty value removes the key.
func (b *bench) configure(t *testing.T, key, value string) {
	t.Helper()
	eventually(t, func() error { // the operator creates it
		config := &corev1.ConfigMap{}
		if err := b.Get(t.Context(), b.key(names.OperatorConfigMap), config); err != nil {
			return err
		}
		patch := client.MergeFrom(config.DeepCopy())
		delete(config.Data, key)
		if value != "" {
			config.Data[key] = value
		}
		return b.Patch(t.Context(), config, patch)
	})
}

// image waits until the stack's pods have to run an image from the given source.
func (b *bench) image(t *testing.T, stack, image string, from v1alpha2.ImageSource) {
	t.Helper()
	eventually(t, func() error {
		deployment, object := &appsv1.Deployment{}, &v1alpha2.LlamaStackDistribution{}
		if err := b.Get(t.Context(), b.key(stack), deployment); err != nil {
			return err
		}
		if err := b.Get(t.Context(), b.key(stack), object); err != nil {
			return err
		}
		got, status := deployment.Spec.Template.Spec.Containers[0].Image, object.Status.ResolvedDistribution
		if got != image || status == nil || status.Image != image || status.ImageFrom != from {
			return fmt.Errorf("image %q, status %+v; want %q from %s", got, status, image, from)
		}
		return nil
	})
}

func (b *bench) configEvents(t *testing.T) []eventsv1.Event {
	t.Helper()
	var found []eventsv1.Event
	for _, event := range b.events(t) {
		if event.Regarding.Kind == "ConfigMap" && event.Regarding.Name == names.OperatorConfigMap {
			found = append(found, event)
		}
	}
	return found
}

// TestOperatorConfigIsMade checks that a new ConfigMap holds only its documentation.
func TestOperatorConfigIsMade(t *testing.T) {
	b := newBench(t)
	b.configured = true
	first := b.start(t, "made")
	made := &corev1.ConfigMap{}
	eventually(t, func() error { return b.Get(t.Context(), b.key(names.OperatorConfigMap), made) })
	if diff := cmp.Diff(operatorconfig.Template(), made.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	b.configure(t, operatorconfig.KeyImageOverrides, "rh-dev: quay.io/x/rh-dev:1")
	first.stop(t)
	b.start(t, "made")
	b.create(t, b.stack(t, "my", `{distribution: {name: rh-dev}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	kept := &corev1.ConfigMap{}
	b.get(t, names.OperatorConfigMap, kept)
	if kept.Data[operatorconfig.KeyImageOverrides] != "rh-dev: quay.io/x/rh-dev:1" {
		t.Errorf("a restart changed it: %v", kept.Data)
	}
}

// TestImageOverride checks that an override takes effect on the running stack at once and while it is set, and that it
// leaves other stacks alone.
func TestImageOverride(t *testing.T) {
	b := newBench(t)
	b.configured = true
	b.start(t, "override")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`), b.stack(t, "pinned", `{distribution: {name: starter, version: "0.7.3"}}`),
		b.stack(t, "other", `{distribution: {image: "example.com/other:0.7.3"}}`))
	catalogue, pinned := starterImage(t), strings.Replace(starterImage(t), ":0.7.1", ":0.7.3", 1)
	b.image(t, "my", catalogue, v1alpha2.ImageFromCatalogue)
	b.image(t, "pinned", pinned, v1alpha2.ImageFromCatalogue)
	b.image(t, "other", "example.com/other:0.7.3", v1alpha2.ImageFromSpec)
	before := len(b.settled(t, "override"))

	b.configure(t, operatorconfig.KeyImageOverrides, "{starter: mirror.example.com/starter:0.7.2, starter@0.7.3: mirror.example.com/starter:0.7.3}")
	b.image(t, "my", "mirror.example.com/starter:0.7.2", v1alpha2.ImageFromOperatorConfig)
	b.image(t, "pinned", "mirror.example.com/starter:0.7.3", v1alpha2.ImageFromOperatorConfig)
	for _, call := range b.settled(t, "override")[before:] {
		if strings.HasSuffix(call, " other") {
			t.Errorf("a stack that nothing changed for cost a call: %s", call)
		}
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	if got := stack.Status.ResolvedDistribution.CatalogueImage; got != catalogue {
		t.Errorf("recorded image %q, want %q", got, catalogue)
	}

	b.configure(t, operatorconfig.KeyImageOverrides, "starter@0.7.3: mirror.example.com/starter:0.7.3")
	b.image(t, "my", catalogue, v1alpha2.ImageFromCatalogue)
	b.image(t, "pinned", "mirror.example.com/starter:0.7.3", v1alpha2.ImageFromOperatorConfig)
	if err := b.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: objectMeta(b.namespace, names.OperatorConfigMap)}); err != nil {
		t.Fatal(err)
	}
	b.image(t, "pinned", pinned, v1alpha2.ImageFromCatalogue)
	if events := b.configEvents(t); len(events) > 0 {
		t.Errorf("events of a ConfigMap without errors: %v", events)
	}
}

// TestBadOperatorConfig checks that an invalid key keeps its last valid value, also for an operator that starts with
// it, and that the error is reported once, on the ConfigMap.
func TestBadOperatorConfig(t *testing.T) {
	const override = "mirror.example.com/starter:0.7.2"
	b := newBench(t)
	b.configured = true
	first := b.start(t, "bad")
	b.configure(t, operatorconfig.KeyImageOverrides, "starter: "+override)
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	b.image(t, "my", override, v1alpha2.ImageFromOperatorConfig)

	b.configure(t, operatorconfig.KeyImageOverrides, "starter: Not An Image")
	expect := func(want int) {
		t.Helper()
		eventually(t, func() error {
			if events := b.configEvents(t); len(events) != want {
				return fmt.Errorf("%d events, want %d: %v", len(events), want, events)
			}
			return nil
		})
	}
	expect(1)
	event := b.configEvents(t)[0]
	want := `image-overrides[starter]: "Not An Image" is not an image reference: write [registry/]repository[:tag][@digest], ` +
		"with the repository in lower case; the key keeps its last good state"
	if diff := cmp.Diff([]string{"Warning", v1alpha2.EventInvalidOperatorConfig, want}, []string{event.Type, event.Reason, event.Note}); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	b.settled(t, "bad")
	b.image(t, "my", override, v1alpha2.ImageFromOperatorConfig)

	b.configure(t, "image-override", "starter: a:1") // a second error is reported, and the first one is not repeated
	expect(2)
	if !slices.ContainsFunc(b.configEvents(t), func(e eventsv1.Event) bool {
		return e.Note == `image-override: unknown key, did you mean "image-overrides"?; the key has no effect`
	}) {
		t.Errorf("events %+v", b.configEvents(t))
	}
	first.stop(t)
	b.start(t, "bad-again")
	eventually(t, func() error {
		if len(b.calls(t, "bad-again")) == 0 {
			return fmt.Errorf("no reconcile yet")
		}
		return nil
	})
	b.settled(t, "bad-again")
	b.image(t, "my", override, v1alpha2.ImageFromOperatorConfig)

	b.configure(t, operatorconfig.KeyImageOverrides, "starter: mirror.example.com/starter:0.7.3")
	b.image(t, "my", "mirror.example.com/starter:0.7.3", v1alpha2.ImageFromOperatorConfig)
}

// TestOwnDistributionName checks that a name that an administrator adds works like those of the catalogue once it has a
// base configuration, and that the error for an unknown name lists all names.
func TestOwnDistributionName(t *testing.T) {
	b := newBench(t)
	b.configured = true
	b.start(t, "own")
	starter, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.create(t, configMap("base", "config.yaml", string(starter.Base)))
	b.create(t, b.stack(t, "my", `{distribution: {name: rh-dev}, baseConfig: {configMapName: base}, resources: {models: [llama]}}`))
	refused := b.condition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonUnknownDistribution)
	want := `spec.distribution.name: unknown distribution "rh-dev"; known distributions: meta-reference-gpu, postgres-demo, remote-vllm, starter; or set an image`
	if diff := cmp.Diff(want, refused.Message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	b.configure(t, operatorconfig.KeyImageOverrides, "other: quay.io/x/other:1")
	eventually(t, func() error {
		again := b.condition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonUnknownDistribution)
		if !strings.Contains(again.Message, "known distributions: meta-reference-gpu, other, postgres-demo, remote-vllm, starter;") {
			return fmt.Errorf("message %q", again.Message)
		}
		return nil
	})
	b.configure(t, operatorconfig.KeyImageOverrides, "rh-dev: quay.io/x/rh-dev:0.7.3")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.image(t, "my", "quay.io/x/rh-dev:0.7.3", v1alpha2.ImageFromOperatorConfig)
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	if got := stack.Status.ResolvedDistribution; got.ServerReleaseFrom != "image-tag" || got.ConfigSource != v1alpha2.ConfigSourceConfigMap {
		t.Errorf("status %+v", got)
	}
	if got := stack.Status.DistributionConfig.AvailableDistributions; got != nil {
		t.Errorf("a stack of v1alpha2 has the available distributions %v", got)
	}
	deployed := &appsv1.Deployment{}
	b.get(t, "my", deployed)
	b.configure(t, operatorconfig.KeyImageOverrides, "")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonUnknownDistribution)
	b.settled(t, "own")
	kept := &appsv1.Deployment{}
	b.get(t, "my", kept)
	if kept.UID != deployed.UID || kept.Generation != deployed.Generation {
		t.Error("a name that is gone touched what runs")
	}
}
