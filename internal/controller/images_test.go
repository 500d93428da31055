package controller

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
)

// What replaces the catalogue's image, in its order; a ConfigMap that never
// could be read changes nothing that runs.
func TestOverride(t *testing.T) {
	running := rollout.Record{Image: "b:1", Distribution: rollout.Distribution{Name: "starter", CatalogueImage: "c:1"}}
	status := &v1alpha2.ResolvedDistribution{Image: "b:1", ImageFrom: v1alpha2.ImageFromRelatedImage}
	for name, tc := range map[string]struct {
		asked      v1alpha2.DistributionSpec
		configured distribution.Overrides
		related    distribution.Overrides
		unknown    bool
		running    rollout.Record
		status     *v1alpha2.ResolvedDistribution
		image      string
		from       v1alpha2.ImageSource
	}{
		"nothing":               {},
		"another name":          {configured: distribution.Overrides{"other": "a:1"}},
		"configured":            {configured: distribution.Overrides{"starter": "a:1"}, related: distribution.Overrides{"starter": "r:1"}, image: "a:1", from: v1alpha2.ImageFromOperatorConfig},
		"related":               {related: distribution.Overrides{"starter": "r:1"}, image: "r:1", from: v1alpha2.ImageFromRelatedImage},
		"a version goes first":  {asked: v1alpha2.DistributionSpec{Version: "0.7"}, configured: distribution.Overrides{"starter": "a:1", "starter@0.7": "a:2"}, image: "a:2", from: v1alpha2.ImageFromOperatorConfig},
		"another version":       {configured: distribution.Overrides{"starter@0.7": "a:2"}, related: distribution.Overrides{"starter": "r:1"}, image: "r:1", from: v1alpha2.ImageFromRelatedImage},
		"what runs is replaced": {related: distribution.Overrides{"starter": "r:1"}, running: running, image: "r:1", from: v1alpha2.ImageFromRelatedImage},
		"unread, new stack":     {unknown: true, related: distribution.Overrides{"starter": "r:1"}, image: "r:1", from: v1alpha2.ImageFromRelatedImage},
		"unread":                {unknown: true, related: distribution.Overrides{"starter": "r:1"}, running: running, status: status, image: "b:1", from: v1alpha2.ImageFromRelatedImage},
		"unread, lost status":   {unknown: true, running: running, image: "b:1", from: v1alpha2.ImageFromOperatorConfig},
		"unread, the catalogue's": {
			unknown: true, running: rollout.Record{Image: "c:1", Distribution: running.Distribution},
			image: "c:1", from: v1alpha2.ImageFromCatalogue,
		},
		"unread, another version": {unknown: true, asked: v1alpha2.DistributionSpec{Version: "0.7"}, running: running},
	} {
		t.Run(name, func(t *testing.T) {
			object := &stack{}
			object.Spec.Distribution = tc.asked
			object.Spec.Distribution.Name = "starter"
			object.Status.ResolvedDistribution = tc.status
			all := distribution.Overrides{}
			for _, images := range []distribution.Overrides{tc.related, tc.configured} {
				maps.Copy(all, images)
			}
			image, from, ok := overrides{all, tc.configured, tc.unknown}.image(object, &tc.running)
			if ok != (tc.image != "") {
				t.Errorf("ok %v, image %q", ok, image)
			}
			if ok {
				if diff := cmp.Diff([]string{tc.image, string(tc.from)}, []string{image, string(from)}); diff != "" {
					t.Errorf("image, source (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// What there is to choose from follows the images in place of the catalogue's.
func TestAvailable(t *testing.T) {
	var known available
	catalogue := maps.Clone(known.with(nil))
	if catalogue["starter"] == "" {
		t.Fatalf("no starter among %v", catalogue)
	}
	want := maps.Clone(catalogue)
	want["starter"], want["ours"] = "a:1", "b:1"
	for range 2 {
		if diff := cmp.Diff(want, known.with(distribution.Overrides{"starter": "a:1", "ours": "b:1"})); diff != "" {
			t.Errorf("with images of the operator's config (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(catalogue, known.with(distribution.Overrides{})); diff != "" {
		t.Errorf("without them again (-want +got):\n%s", diff)
	}
}
