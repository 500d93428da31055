package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// tagInterval is the pause between two comparisons of a tag.
const tagInterval = 100 * time.Millisecond

// waitForPinnedImage waits until the Deployment of the stack "my" has the given image, and the status reports the
// digest that the tag moved to. An empty digest means that the tag has not moved.
func waitForPinnedImage(t *testing.T, env *controllertest.Environment, image, moved string) {
	t.Helper()
	controllertest.WaitUntil(t, func() error {
		deployment, stack := &appsv1.Deployment{}, &v1alpha2.LlamaStackDistribution{}
		if err := env.Client.Get(t.Context(), env.Key("my"), deployment); err != nil {
			return err
		}
		if err := env.Client.Get(t.Context(), env.Key("my"), stack); err != nil {
			return err
		}
		got, status := deployment.Spec.Template.Spec.Containers[0].Image, stack.Status.ResolvedDistribution
		if got != image || status == nil || status.TagDigest != moved || !strings.HasSuffix(image, status.Digest) {
			return fmt.Errorf("image %q, status %+v; want %q and the tag at %q", got, status, image, moved)
		}
		return nil
	})
}

// waitForDegraded waits until the stack "my" is Degraded with the given message. An empty message means that the stack
// is not Degraded.
func waitForDegraded(t *testing.T, env *controllertest.Environment, message string) {
	t.Helper()
	controllertest.WaitUntil(t, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		if err := env.Client.Get(t.Context(), env.Key("my"), stack); err != nil {
			return err
		}
		switch got := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded); {
		case message == "" && got != nil:
			return fmt.Errorf("condition %+v, want no condition", got)
		case message != "" && (got == nil || got.Reason != v1alpha2.ReasonBaseConfigStale ||
			!strings.Contains(got.Message, message)):
			return fmt.Errorf("condition %+v, want %q", got, message)
		}
		return nil
	})
}

// waitForTagEvents waits until the number of events about a tag is `count`, and one of these events names both digests.
func waitForTagEvents(t *testing.T, env *controllertest.Environment, count int, from, to string) {
	t.Helper()
	controllertest.WaitUntil(t, func() error {
		notes := listEventNotes(t, env, v1alpha2.EventImageTagMoved)
		all := strings.Join(notes, "\n")
		if len(notes) != count || !strings.Contains(all, "from "+from+" to "+to) {
			return fmt.Errorf("%d events, want %d and one from %s to %s:\n%s", len(notes), count, from, to, all)
		}
		return nil
	})
}

// TestRunningMovedTag checks that a moved tag is reported once, and that the pods do not change until the spec requests
// that they follow the tag.
func TestRunningMovedTag(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.TagInterval = tagInterval
	r, operator := env.StartOperatorWithRegistry(t)
	image, first := r.PushImage(t, "team/own:prod", controllertest.ConfigLabels("0.7.3"))
	const spec = `{distribution: {image: %q%s}, resources: {models: [%s]}}`
	env.Create(t, env.NewStack(t, "my", fmt.Sprintf(spec, image, "", "gpt-4o-mini")))
	waitForPinnedImage(t, env, image+"@"+first, "")
	before := &appsv1.Deployment{}
	env.WaitUntilIdle(t, "labels")
	env.Get(t, "my", before)

	_, second := r.PushImage(t, "team/own:prod", controllertest.ConfigLabels("0.7.1"))
	waitForTagEvents(t, env, 1, first, second)
	waitForPinnedImage(t, env, image+"@"+first, second)
	env.CheckDeploymentUnchanged(t, before)
	operator.Stop(t)

	// Another operator does not report the move again. A change to the spec uses the configuration that was read.
	env.StartOperator(t, "labels-2")
	env.UpdateSpec(t, "my", fmt.Sprintf(spec, image, "", "gpt-4o-mini, gpt-4.1"))
	env.WaitForDeploymentUpdate(t, before)
	waitForPinnedImage(t, env, image+"@"+first, second)
	waitForTagEvents(t, env, 1, first, second)

	env.UpdateSpec(t, "my", fmt.Sprintf(spec, image, ", imageUpdates: Follow", "gpt-4o-mini, gpt-4.1"))
	waitForPinnedImage(t, env, image+"@"+second, "")
	_, third := r.PushImage(t, "team/own:prod", controllertest.ConfigLabels("0.7.2"))
	waitForPinnedImage(t, env, image+"@"+third, "")
	waitForTagEvents(t, env, 2, second, third)

	// The pods do not follow the tag to an image without a valid configuration, but they follow it to the next image that
	// has one.
	_, bare := r.PushImage(t, "team/own:prod", nil)
	waitForDegraded(t, env, bare+", but the pods keep "+third+" because the operator cannot use the new image: the labels of the new image contain no configuration")
	waitForPinnedImage(t, env, image+"@"+third, bare)
	r.PushImage(t, "team/own:prod", map[string]string{controllertest.ConfigLabel: "***"})
	waitForDegraded(t, env, `label "io.llamastack.config.base64": the value is not base64`)
	_, fourth := r.PushImage(t, "team/own:prod", controllertest.ConfigLabels("0.7.3"))
	waitForPinnedImage(t, env, image+"@"+fourth, "")
	waitForDegraded(t, env, "")
}

// TestFollowedTagOfTheCatalog checks that the pods of a catalog distribution run the digest of its tag while they
// follow the tag, and keep the digest when they no longer follow it.
func TestFollowedTagOfTheCatalog(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.TagInterval = tagInterval
	env.OwnOperatorConfig, env.Workers = true, true
	env.StartReconciler(t, "labels")
	r := controllertest.NewRegistry(t)
	env.SetOperatorConfig(t, operatorconfig.KeyRegistries, fmt.Sprintf("{insecure: [%q], rewrite: {docker.io/ogxai: %s/mirror}}", r.Host, r.Host))
	known, err := distribution.Resolve("starter", "", "0.7", nil)
	testutil.Must(t, err)
	mirrored := strings.Replace(known.Image, "docker.io/ogxai", "mirror", 1)
	_, first := r.PushImage(t, mirrored, nil)
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter, version: "0.7", imageUpdates: Follow}, disabled: [batches]}`))
	waitForPinnedImage(t, env, known.Image+"@"+first, "")
	_, second := r.PushImage(t, mirrored, map[string]string{"another": "image"})
	waitForPinnedImage(t, env, known.Image+"@"+second, "")
	waitForTagEvents(t, env, 1, first, second)
	env.UpdateSpec(t, "my", `{distribution: {name: starter, version: "0.7"}, disabled: [batches]}`)
	_, third := r.PushImage(t, mirrored, map[string]string{"a third": "image"})
	waitForPinnedImage(t, env, known.Image+"@"+second, third)
	waitForTagEvents(t, env, 2, second, third)

	// If the operator is not allowed to read images, the stack cannot follow its tag.
	env.SetOperatorConfig(t, operatorconfig.KeyRegistries, "readLabels: false")
	env.UpdateSpec(t, "my", `{distribution: {name: starter, version: "0.7", imageUpdates: Follow}, disabled: [batches]}`)
	waitForDegraded(t, env, "registries.readLabels")
	waitForPinnedImage(t, env, known.Image+"@"+second, "")
}
