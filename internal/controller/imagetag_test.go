package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
)

// runs waits until the pods of the stack "my" have to run an image, and the status reports the digest that the tag
// moved to.
func (b *bench) runs(t *testing.T, image, moved string) {
	t.Helper()
	eventually(t, func() error {
		deployment, stack := &appsv1.Deployment{}, &v1alpha2.LlamaStackDistribution{}
		if err := b.Get(t.Context(), b.key("my"), deployment); err != nil {
			return err
		}
		if err := b.Get(t.Context(), b.key("my"), stack); err != nil {
			return err
		}
		got, status := deployment.Spec.Template.Spec.Containers[0].Image, stack.Status.ResolvedDistribution
		if got != image || status == nil || status.TagDigest != moved || !strings.HasSuffix(image, status.Digest) {
			return fmt.Errorf("image %q, status %+v; want %q and the tag at %q", got, status, image, moved)
		}
		return nil
	})
}

// stale waits until the stack "my" is Degraded with a message, or is no longer Degraded.
func (b *bench) stale(t *testing.T, message string) {
	t.Helper()
	eventually(t, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		if err := b.Get(t.Context(), b.key("my"), stack); err != nil {
			return err
		}
		switch got := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded); {
		case message == "" && got != nil:
			return fmt.Errorf("condition %+v, want none", got)
		case message != "" && (got == nil || got.Reason != v1alpha2.ReasonBaseConfigStale ||
			!strings.Contains(got.Message, message)):
			return fmt.Errorf("condition %+v, want %q", got, message)
		}
		return nil
	})
}

// moves waits for count events about a tag, and for one that names both digests.
func (b *bench) moves(t *testing.T, count int, from, to string) {
	t.Helper()
	eventually(t, func() error {
		var notes []string
		for _, event := range b.events(t) {
			if event.Reason == v1alpha2.EventImageTagMoved {
				notes = append(notes, event.Note)
			}
		}
		all := strings.Join(notes, "\n")
		if len(notes) != count || !strings.Contains(all, "from "+from+" to "+to) {
			return fmt.Errorf("%d events, want %d and one from %s to %s:\n%s", len(notes), count, from, to, all)
		}
		return nil
	})
}

// TestMovedTag checks that a moved tag is reported once, and that the pods stay as they are until the stack is set to
// follow its tag.
func TestMovedTag(t *testing.T) {
	b := newBench(t)
	b.tagInterval = time.Second
	r, operator := b.labelled(t)
	image, first := r.push(t, "team/own:prod", withConfig("0.7.3"))
	const spec = `{distribution: {image: %q%s}, resources: {models: [%s]}}`
	b.create(t, b.stack(t, "my", fmt.Sprintf(spec, image, "", "gpt-4o-mini")))
	b.runs(t, image+"@"+first, "")
	before := &appsv1.Deployment{}
	b.settled(t, "labels")
	b.get(t, "my", before)

	_, second := r.push(t, "team/own:prod", withConfig("0.7.1"))
	b.moves(t, 1, first, second)
	b.runs(t, image+"@"+first, second)
	b.untouched(t, before)
	operator.stop(t)

	// Another operator does not report the move again. A change of the spec uses the configuration that was read.
	b.start(t, "labels-2")
	b.respec(t, "my", fmt.Sprintf(spec, image, "", "gpt-4o-mini, gpt-4.1"))
	b.rolls(t, before)
	b.runs(t, image+"@"+first, second)
	b.moves(t, 1, first, second)

	b.respec(t, "my", fmt.Sprintf(spec, image, ", imageUpdates: Follow", "gpt-4o-mini, gpt-4.1"))
	b.runs(t, image+"@"+second, "")
	_, third := r.push(t, "team/own:prod", withConfig("0.7.2"))
	b.runs(t, image+"@"+third, "")
	b.moves(t, 2, second, third)

	// An image without a configuration is not followed, and the next one is.
	_, bare := r.push(t, "team/own:prod", nil)
	b.stale(t, bare+", which cannot be used; the pods keep "+third+": its labels have no configuration")
	b.runs(t, image+"@"+third, bare)
	r.push(t, "team/own:prod", map[string]string{labelConfig: "***"})
	b.stale(t, `label "io.llamastack.config.base64": is not base64`)
	_, fourth := r.push(t, "team/own:prod", withConfig("0.7.3"))
	b.runs(t, image+"@"+fourth, "")
	b.stale(t, "")
}

// rolls waits until the template differs from the previous one.
func (b *bench) rolls(t *testing.T, before *appsv1.Deployment) {
	t.Helper()
	eventually(t, func() error {
		now := &appsv1.Deployment{}
		b.get(t, "my", now)
		if now.Generation == before.Generation {
			return fmt.Errorf("the template is the one of before")
		}
		return nil
	})
}

// TestTagThatCannotBeCompared checks that the pods stay while the registry does not answer, that the status reports it,
// and that a change of the spec rolls out with the configuration that was read.
func TestTagThatCannotBeCompared(t *testing.T) {
	b := newBench(t)
	b.tagInterval = time.Second
	r, operator := b.labelled(t)
	image, digest := r.push(t, "team/own:prod", withConfig("0.7.3"))
	const spec = `{distribution: {image: %q}, resources: {models: [%s]}}`
	b.create(t, b.stack(t, "my", fmt.Sprintf(spec, image, "gpt-4o-mini")))
	b.runs(t, image+"@"+digest, "")
	b.settled(t, "labels")
	before := &appsv1.Deployment{}
	b.get(t, "my", before)

	r.down.Store(true)
	b.stale(t, "503")
	b.untouched(t, before)
	b.respec(t, "my", fmt.Sprintf(spec, image, "gpt-4o-mini, gpt-4.1"))
	b.rolls(t, before)
	b.runs(t, image+"@"+digest, "")
	b.stale(t, "503")
	operator.stop(t)

	// An operator that has not asked yet repeats the status of the previous operator.
	b.tagInterval = 0
	operator = b.start(t, "labels-2")
	for _, call := range writes(b.settled(t, "labels-2")) {
		if call != "patch llamastackdistributions status my" {
			t.Errorf("a start without the registry wrote more than the status: %s", call)
		}
	}
	b.stale(t, "503")
	operator.stop(t)

	b.tagInterval = time.Second
	r.down.Store(false)
	b.start(t, "labels-3")
	b.stale(t, "")
}

// TestFollowedTagOfTheCatalogue checks that the pods of a distribution run its tag by digest while they follow it, and
// keep the digest afterwards.
func TestFollowedTagOfTheCatalogue(t *testing.T) {
	b := newBench(t)
	b.tagInterval = time.Second
	b.configured = true
	b.start(t, "labels")
	r := serveImages(t)
	b.configure(t, operatorconfig.KeyRegistries, fmt.Sprintf("{insecure: [%q], rewrite: {docker.io/ogxai: %s/mirror}}", r.host, r.host))
	known, err := distribution.Resolve("starter", "", "0.7", nil)
	if err != nil {
		t.Fatal(err)
	}
	mirrored := strings.Replace(known.Image, "docker.io/ogxai", "mirror", 1)
	_, first := r.push(t, mirrored, nil)
	b.create(t, b.stack(t, "my", `{distribution: {name: starter, version: "0.7", imageUpdates: Follow}, disabled: [batches]}`))
	b.runs(t, known.Image+"@"+first, "")
	_, second := r.push(t, mirrored, map[string]string{"another": "image"})
	b.runs(t, known.Image+"@"+second, "")
	b.moves(t, 1, first, second)
	b.respec(t, "my", `{distribution: {name: starter, version: "0.7"}, disabled: [batches]}`)
	_, third := r.push(t, mirrored, map[string]string{"a third": "image"})
	b.runs(t, known.Image+"@"+second, third)
	b.moves(t, 2, second, third)

	// If images may not be read, the stack cannot follow its tag.
	b.configure(t, operatorconfig.KeyRegistries, "readLabels: false")
	b.respec(t, "my", `{distribution: {name: starter, version: "0.7", imageUpdates: Follow}, disabled: [batches]}`)
	b.stale(t, "registries.readLabels")
	b.runs(t, known.Image+"@"+second, "")
}
