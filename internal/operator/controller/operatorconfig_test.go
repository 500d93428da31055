package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// listConfigEvents returns the events about the operator's ConfigMap.
func listConfigEvents(t *testing.T, env *controllertest.Environment) []eventsv1.Event {
	t.Helper()
	var found []eventsv1.Event
	for _, event := range env.ListEvents(t) {
		if event.Regarding.Kind == "ConfigMap" && event.Regarding.Name == names.OperatorConfigMap {
			found = append(found, event)
		}
	}
	return found
}

// TestRunningImageOverride checks that an override takes effect on the running stack immediately and only while it is
// set, and that it does not affect other stacks.
func TestRunningImageOverride(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartOperator(t, "override")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`), env.NewStack(t, "pinned", `{distribution: {name: starter, version: "0.7.3"}}`),
		env.NewStack(t, "other", `{distribution: {image: "example.com/other:0.7.3"}}`))
	catalog := controllertest.StarterImage(t)
	pinned := strings.Replace(catalog, ":0.7.1", ":0.7.3", 1)
	env.WaitForImage(t, "my", catalog, v1alpha2.ImageFromCatalogue)
	env.WaitForImage(t, "pinned", pinned, v1alpha2.ImageFromCatalogue)
	env.WaitForImage(t, "other", "example.com/other:0.7.3", v1alpha2.ImageFromSpec)
	before := len(env.WaitUntilIdle(t, "override"))

	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "{starter: mirror.example.com/starter:0.7.2, starter@0.7.3: mirror.example.com/starter:0.7.3}")
	env.WaitForImage(t, "my", "mirror.example.com/starter:0.7.2", v1alpha2.ImageFromOperatorConfig)
	env.WaitForImage(t, "pinned", "mirror.example.com/starter:0.7.3", v1alpha2.ImageFromOperatorConfig)
	for _, call := range env.WaitUntilIdle(t, "override")[before:] {
		if strings.HasSuffix(call, " other") {
			t.Errorf("an unaffected stack caused a call: %s", call)
		}
	}
	stack := env.GetStack(t)
	if got := stack.Status.ResolvedDistribution.CatalogueImage; got != catalog {
		t.Errorf("recorded image %q, want %q", got, catalog)
	}

	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter@0.7.3: mirror.example.com/starter:0.7.3")
	env.WaitForImage(t, "my", catalog, v1alpha2.ImageFromCatalogue)
	env.WaitForImage(t, "pinned", "mirror.example.com/starter:0.7.3", v1alpha2.ImageFromOperatorConfig)
	if err := env.Client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: controllertest.ObjectMeta(env.Namespace,
		names.OperatorConfigMap)}); err != nil {
		t.Fatal(err)
	}
	env.WaitForImage(t, "pinned", pinned, v1alpha2.ImageFromCatalogue)
	if events := listConfigEvents(t, env); len(events) > 0 {
		t.Errorf("events of a ConfigMap without errors: %v", events)
	}
}

// TestRunningBadOperatorConfig checks that an invalid value of a key does not change the image of a running stack, even
// if the operator starts with the invalid value. It also checks that the error is reported once, on the ConfigMap.
func TestRunningBadOperatorConfig(t *testing.T) {
	t.Parallel()
	const override = "mirror.example.com/starter:0.7.2"
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	first := env.StartOperator(t, "bad")
	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: "+override)
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	env.WaitForImage(t, "my", override, v1alpha2.ImageFromOperatorConfig)

	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: Not An Image")
	expect := func(want int) {
		t.Helper()
		controllertest.WaitUntil(t, func() error {
			if events := listConfigEvents(t, env); len(events) != want {
				return fmt.Errorf("%d events, want %d: %v", len(events), want, events)
			}
			return nil
		})
	}
	expect(1)
	event := listConfigEvents(t, env)[0]
	want := `image-overrides[starter]: "Not An Image" is not an image reference: write [registry/]repository[:tag][@digest], ` +
		"with the repository in lower case; the operator uses the last valid value of the key, " +
		"if it has read one since it started"
	if diff := cmp.Diff([]string{"Warning", v1alpha2.EventInvalidOperatorConfig, want}, []string{event.Type, event.Reason, event.Note}); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	env.WaitUntilIdle(t, "bad")
	env.WaitForImage(t, "my", override, v1alpha2.ImageFromOperatorConfig)

	// A second error is reported, and the first one is not repeated.
	env.SetOperatorConfig(t, "image-override", "starter: a:1")
	expect(2)
	if !slices.ContainsFunc(listConfigEvents(t, env), func(e eventsv1.Event) bool {
		return e.Note == `image-override: unknown key; did you mean "image-overrides"?; the key has no effect`
	}) {
		t.Errorf("events %+v", listConfigEvents(t, env))
	}
	first.Stop(t)
	env.StartOperator(t, "bad-again")
	controllertest.WaitUntil(t, func() error {
		if len(env.ListCalls(t, "bad-again")) == 0 {
			return fmt.Errorf("no reconcile yet")
		}
		return nil
	})
	env.WaitUntilIdle(t, "bad-again")
	env.WaitForImage(t, "my", override, v1alpha2.ImageFromOperatorConfig)

	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: mirror.example.com/starter:0.7.3")
	env.WaitForImage(t, "my", "mirror.example.com/starter:0.7.3", v1alpha2.ImageFromOperatorConfig)
}
