package facts

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// TestImageOverrides checks the precedence of overrides for the catalog's image, and that a ConfigMap that has never
// been valid does not change the running pods.
func TestImageOverrides(t *testing.T) {
	running := rollout.Distribution{Name: "starter", CatalogueImage: "c:1", Image: "b:1"}
	ofCatalog := rollout.Distribution{Name: "starter", CatalogueImage: "c:1", Image: "c:1"}
	status := &v1alpha2.ResolvedDistribution{Name: "starter", Image: "b:1", ImageFrom: v1alpha2.ImageFromRelatedImage}
	for name, tc := range map[string]struct {
		asked      v1alpha2.DistributionSpec
		configured distribution.Overrides
		related    distribution.Overrides
		unknown    bool
		// relatedUnknown reports that the RELATED_IMAGE variables were not read.
		relatedUnknown bool
		running        rollout.Distribution
		status         *v1alpha2.ResolvedDistribution
		image          string
		from           v1alpha2.ImageSource
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
			unknown: true, running: ofCatalog,
			image: "c:1", from: v1alpha2.ImageFromCatalogue,
		},
		"invalid ConfigMap, only the status is known":     {unknown: true, status: status, image: "b:1", from: v1alpha2.ImageFromRelatedImage},
		"unknown variables, running stack":                {relatedUnknown: true, running: running, status: status, image: "b:1", from: v1alpha2.ImageFromRelatedImage},
		"unknown variables, running image of the catalog": {relatedUnknown: true, running: ofCatalog},
		"unknown variables, override in the ConfigMap": {
			relatedUnknown: true, configured: distribution.Overrides{"starter": "a:1"}, running: running, status: status,
			image: "a:1", from: v1alpha2.ImageFromOperatorConfig,
		},
		"invalid ConfigMap, changed version": {unknown: true, asked: v1alpha2.DistributionSpec{Version: "0.7"}, running: running},
	} {
		t.Run(name, func(t *testing.T) {
			asked := tc.asked
			asked.Name = "starter"
			all := distribution.Overrides{}
			maps.Copy(all, tc.related)
			maps.Copy(all, tc.configured)
			overrides := Overrides{
				All: all, configured: tc.configured, Unknown: tc.unknown, RelatedUnknown: tc.relatedUnknown,
			}
			known := Running{Record: rollout.Record{Distribution: tc.running}}
			known.Status.ResolvedDistribution = tc.status
			image, from, ok := overrides.image(asked, &known)
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
	const recorded, older = repository + "0.7.0", repository + "0.3.5"
	inStatus := &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: recorded}
	return []imageCase{
		{name: "new stack", image: catalog, catalog: catalog},
		{name: "recorded in the status", status: inStatus, image: recorded, catalog: recorded, newer: catalog},
		{
			name:   "running image recorded in the status",
			status: &v1alpha2.ResolvedDistribution{Name: "starter", Image: recorded, ImageFrom: v1alpha2.ImageFromCatalogue},
			image:  recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "image of an earlier override in the status",
			status: &v1alpha2.ResolvedDistribution{
				Name: "starter", Image: "mirror/starter:0.7.0", ImageFrom: v1alpha2.ImageFromOperatorConfig,
			},
			image: catalog, catalog: catalog,
		},
		{
			name:    "recorded on the Deployment",
			running: rollout.Distribution{Name: "starter", CatalogueImage: recorded},
			image:   recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "changed version", asked: v1alpha2.DistributionSpec{Version: "0.7"},
			status: inStatus,
			image:  catalog, catalog: catalog,
		},
		{
			name:   "override of a recorded image",
			status: inStatus,
			images: distribution.Overrides{"starter": "mirror/starter:0.7.1"},
			image:  "mirror/starter:0.7.1", catalog: recorded, newer: catalog,
		},
		{name: "taken over, known version", answer: "0.3.5", image: older, catalog: older, newer: catalog},
		{
			name: "taken over, another release of a known line", answer: "0.3.4.dev1+team",
			image: older, catalog: older, newer: catalog,
		},
		{name: "taken over, unknown release line", answer: "0.1.9", image: catalog, catalog: catalog},
		{
			name: "taken over, version reported after the takeover", answer: "0.3.5", foreign: true,
			status:  &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: catalog},
			running: rollout.Distribution{Name: "starter", CatalogueImage: catalog},
			image:   older, catalog: older, newer: catalog,
		},
		{
			name: "taken over, unknown version", foreign: true,
			status: inStatus,
			image:  recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "another version in the pods of this operator", answer: "0.3.5",
			status: inStatus,
			image:  recorded, catalog: recorded, newer: catalog,
		},
		{
			name: "taken over, version in the spec", asked: v1alpha2.DistributionSpec{Version: "0.7"}, answer: "0.3.5",
			image: catalog, catalog: catalog,
		},
		{name: "written on the volume", written: "0.3.5", image: older, catalog: older},
		{
			name: "bare image", asked: v1alpha2.DistributionSpec{Image: "example.com/mine:1"},
			status: &v1alpha2.ResolvedDistribution{Image: "example.com/other:1"}, image: "example.com/mine:1",
		},
	}
}

// imageCase is a row of TestImage.
type imageCase struct {
	name    string
	asked   v1alpha2.DistributionSpec // starter if it is empty
	status  *v1alpha2.ResolvedDistribution
	running rollout.Distribution
	answer  string // the version that the server reported to this operator or to the previous one
	foreign bool   // the Deployment was taken over with its pods unchanged
	written string // the release that wrote the data on the volume
	images  distribution.Overrides
	image   string
	catalog string
	newer   string
}

// checkImage compares the image of a stack with the expected image.
func checkImage(t *testing.T, tc imageCase) {
	known := Running{
		Record: rollout.Record{Distribution: tc.running}, VolumeRelease: func() string { return tc.written },
	}
	known.Status.ResolvedDistribution = tc.status
	if tc.answer != "" {
		known.Status.Version = &v1alpha2.VersionStatus{LlamaStackServerVersion: tc.answer}
	}
	if tc.foreign {
		known.Record.Inputs = "digest"
	}
	config, _ := operatorconfig.Read(nil, operatorconfig.Config{})
	if tc.asked.Image == "" {
		tc.asked.Name = "starter"
	}
	found, err := known.Image(tc.asked, NewOverrides(tc.images, config))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{found.Distribution.Image, found.Catalog, found.Newer}
	if diff := cmp.Diff([]string{tc.image, tc.catalog, tc.newer}, got); diff != "" {
		t.Errorf("image, catalog image, newer image (-want +got):\n%s", diff)
	}
}
