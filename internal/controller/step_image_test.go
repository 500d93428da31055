package controller

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// TestImageOverrides checks the precedence of overrides for the catalog's image, and that a ConfigMap that has never
// been valid does not change the running pods.
func TestImageOverrides(t *testing.T) {
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
		"no override":              {},
		"override of another name": {configured: distribution.Overrides{"other": "a:1"}},
		"override in the ConfigMap": {
			configured: distribution.Overrides{"starter": "a:1"}, related: distribution.Overrides{"starter": "r:1"},
			image: "a:1", from: v1alpha2.ImageFromOperatorConfig,
		},
		"RELATED_IMAGE variable": {
			related: distribution.Overrides{"starter": "r:1"},
			image:   "r:1", from: v1alpha2.ImageFromRelatedImage,
		},
		"override of the version": {
			asked:      v1alpha2.DistributionSpec{Version: "0.7"},
			configured: distribution.Overrides{"starter": "a:1", "starter@0.7": "a:2"},
			image:      "a:2", from: v1alpha2.ImageFromOperatorConfig,
		},
		"override of another version": {
			configured: distribution.Overrides{"starter@0.7": "a:2"}, related: distribution.Overrides{"starter": "r:1"},
			image: "r:1", from: v1alpha2.ImageFromRelatedImage,
		},
		"override of a running image": {
			related: distribution.Overrides{"starter": "r:1"}, running: running, image: "r:1",
			from: v1alpha2.ImageFromRelatedImage,
		},
		"invalid ConfigMap, new stack":                      {unknown: true, related: distribution.Overrides{"starter": "r:1"}, image: "r:1", from: v1alpha2.ImageFromRelatedImage},
		"invalid ConfigMap, running stack":                  {unknown: true, related: distribution.Overrides{"starter": "r:1"}, running: running, status: status, image: "b:1", from: v1alpha2.ImageFromRelatedImage},
		"invalid ConfigMap, running stack without a status": {unknown: true, running: running, image: "b:1", from: v1alpha2.ImageFromOperatorConfig},
		"invalid ConfigMap, running image of the catalog": {
			unknown: true, running: rollout.Record{Image: "c:1", Distribution: running.Distribution},
			image: "c:1", from: v1alpha2.ImageFromCatalogue,
		},
		"invalid ConfigMap, changed version": {unknown: true, asked: v1alpha2.DistributionSpec{Version: "0.7"}, running: running},
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

// TestImage checks that a stack keeps the image with which it was created while its spec remains the same, even if a
// newer operator has a different catalog.
func TestImage(t *testing.T) {
	catalog, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range imageCases(catalog.Image) {
		t.Run(tc.name, func(t *testing.T) { checkImage(t, tc) })
	}
}

// imageCases returns the rows of TestImage. The operator's catalog contains the given image.
func imageCases(catalog string) []imageCase {
	const repository = "docker.io/ogxai/distribution-starter:"
	const recorded = repository + "0.7.0"
	return []imageCase{
		{
			name: "new stack", asked: v1alpha2.DistributionSpec{Name: "starter"},
			image: catalog, catalog: catalog,
		},
		{
			name: "recorded in the status", asked: v1alpha2.DistributionSpec{Name: "starter"},
			status: &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: recorded},
			image:  recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "running image recorded in the status", asked: v1alpha2.DistributionSpec{Name: "starter"},
			status: &v1alpha2.ResolvedDistribution{Name: "starter", Image: recorded, ImageFrom: v1alpha2.ImageFromCatalogue},
			image:  recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "image of an earlier override in the status", asked: v1alpha2.DistributionSpec{Name: "starter"},
			status: &v1alpha2.ResolvedDistribution{
				Name: "starter", Image: "mirror/starter:0.7.0", ImageFrom: v1alpha2.ImageFromOperatorConfig,
			},
			image: catalog, catalog: catalog,
		},
		{
			name: "recorded on the Deployment", asked: v1alpha2.DistributionSpec{Name: "starter"},
			running: rollout.Distribution{Name: "starter", CatalogueImage: recorded},
			image:   recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "changed version", asked: v1alpha2.DistributionSpec{Name: "starter", Version: "0.7"},
			status: &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: recorded},
			image:  catalog, catalog: catalog,
		},
		{
			name: "override of a recorded image", asked: v1alpha2.DistributionSpec{Name: "starter"},
			status: &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: recorded},
			images: distribution.Overrides{"starter": "mirror/starter:0.7.1"},
			image:  "mirror/starter:0.7.1", catalog: recorded, newer: catalog,
		},
		{
			name: "taken over, known version", asked: v1alpha2.DistributionSpec{Name: "starter"}, answer: "0.3.5",
			image: repository + "0.3.5", catalog: repository + "0.3.5", newer: catalog,
		},
		{
			name: "taken over, another release of a known line", asked: v1alpha2.DistributionSpec{Name: "starter"}, answer: "0.3.4.dev1+team",
			image: repository + "0.3.5", catalog: repository + "0.3.5", newer: catalog,
		},
		{
			name: "taken over, unknown release line", asked: v1alpha2.DistributionSpec{Name: "starter"}, answer: "0.1.9",
			image: catalog, catalog: catalog,
		},
		{
			name: "taken over, version reported after the takeover", asked: v1alpha2.DistributionSpec{Name: "starter"}, answer: "0.3.5", foreign: true,
			status:  &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: catalog},
			running: rollout.Distribution{Name: "starter", CatalogueImage: catalog},
			image:   repository + "0.3.5", catalog: repository + "0.3.5", newer: catalog,
		},
		{
			name: "taken over, unknown version", asked: v1alpha2.DistributionSpec{Name: "starter"}, foreign: true,
			status: &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: recorded},
			image:  recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "another version in the pods of this operator", asked: v1alpha2.DistributionSpec{Name: "starter"}, answer: "0.3.5",
			status: &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: recorded},
			image:  recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "taken over, version in the spec", asked: v1alpha2.DistributionSpec{Name: "starter", Version: "0.7"}, answer: "0.3.5",
			image: catalog, catalog: catalog,
		},
		{
			name: "bare image", asked: v1alpha2.DistributionSpec{Image: "example.com/mine:1"},
			status: &v1alpha2.ResolvedDistribution{Image: "example.com/other:1"}, image: "example.com/mine:1",
		},
	}
}

// imageCase is a row of TestImage.
type imageCase struct {
	name    string
	asked   v1alpha2.DistributionSpec
	status  *v1alpha2.ResolvedDistribution
	running rollout.Distribution
	answer  string // the version that the server reported to this operator or to the previous one
	foreign bool   // the Deployment was taken over with its pods unchanged
	images  distribution.Overrides
	image   string
	catalog string
	newer   string
}

// checkImage compares the image of a stack with the expected image.
func checkImage(t *testing.T, tc imageCase) {
	object := &stack{}
	object.Spec.Distribution = tc.asked
	object.Status.ResolvedDistribution = tc.status
	if tc.answer != "" {
		object.Status.Version = &v1alpha2.VersionStatus{LlamaStackServerVersion: tc.answer}
	}
	running := &rollout.Record{Distribution: tc.running}
	if tc.foreign {
		running.Inputs = "digest"
	}
	r := &Reconciler{relatedImages: tc.images, config: newOperatorConfig(emptyCache{}, ""), children: emptyCache{}}
	found, err := r.image(t.Context(), object, running)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{found.distribution.Image, found.catalog, found.newer}
	if diff := cmp.Diff([]string{tc.image, tc.catalog, tc.newer}, got); diff != "" {
		t.Errorf("image, catalog image, newer image (-want +got):\n%s", diff)
	}
}

// TestUnknownDistribution checks that the error for an unknown distribution lists the known distributions.
func TestUnknownDistribution(t *testing.T) {
	_, err := newFixture(t).runSteps(t, newStack(t, `{distribution: {name: startr}}`), "image")
	checkFailure(t, err, &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonUnknownDistribution,
		Message: `spec.distribution.name: unknown distribution "startr"; known distributions: meta-reference-gpu, postgres-demo, remote-vllm, starter; use one of them, or set an image; an administrator can add a name under the key image-overrides in the operator's ConfigMap`,
	})
}
