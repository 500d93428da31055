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
	type overrides = distribution.Overrides
	ours, related := overrides{"starter": "a:1"}, overrides{"starter": "r:1"}
	both := overrides{"starter": "a:1", "starter@0.7": "a:2"}
	running := rollout.Distribution{Name: "starter", CatalogueImage: "c:1", Image: "b:1"}
	ofCatalog := rollout.Distribution{Name: "starter", CatalogueImage: "c:1", Image: "c:1"}
	status := &v1alpha2.ResolvedDistribution{Name: "starter", Image: "b:1", ImageFrom: v1alpha2.ImageFromRelatedImage}
	for name, tc := range map[string]struct {
		version             string
		configured, related overrides
		// unknown reports that the ConfigMap was never valid, and relatedUnknown that the RELATED_IMAGE variables were not
		// read.
		unknown, relatedUnknown bool
		running                 rollout.Distribution
		status                  *v1alpha2.ResolvedDistribution
		want                    string // the image and its source
	}{
		"no override":                                       {},
		"override of another name":                          {configured: overrides{"other": "a:1"}},
		"override in the ConfigMap":                         {configured: ours, related: related, want: "a:1 operator-config"},
		"RELATED_IMAGE variable":                            {related: related, want: "r:1 related-image"},
		"override of the version":                           {version: "0.7", configured: both, want: "a:2 operator-config"},
		"override of another version":                       {configured: overrides{"starter@0.7": "a:2"}, related: related, want: "r:1 related-image"},
		"override of a running image":                       {related: related, running: running, want: "r:1 related-image"},
		"invalid ConfigMap, new stack":                      {unknown: true, related: related, want: "r:1 related-image"},
		"invalid ConfigMap, running stack":                  {unknown: true, related: related, running: running, status: status, want: "b:1 related-image"},
		"invalid ConfigMap, running stack without a status": {unknown: true, running: running, want: "b:1 operator-config"},
		"invalid ConfigMap, running image of the catalog":   {unknown: true, running: ofCatalog, want: "c:1 catalogue"},
		"invalid ConfigMap, only the status is known":       {unknown: true, status: status, want: "b:1 related-image"},
		"unknown variables, running stack":                  {relatedUnknown: true, running: running, status: status, want: "b:1 related-image"},
		"unknown variables, running image of the catalog":   {relatedUnknown: true, running: ofCatalog},
		"unknown variables, override in the ConfigMap": {
			relatedUnknown: true, configured: ours, running: running, status: status, want: "a:1 operator-config",
		},
		"invalid ConfigMap, changed version": {unknown: true, version: "0.7", running: running},
	} {
		t.Run(name, func(t *testing.T) {
			all := overrides{}
			maps.Copy(all, tc.related)
			maps.Copy(all, tc.configured)
			of := Overrides{All: all, configured: tc.configured, Unknown: tc.unknown, RelatedUnknown: tc.relatedUnknown}
			known := Running{Record: rollout.Record{Distribution: tc.running}}
			known.Status.ResolvedDistribution = tc.status
			got := ""
			if image, from, ok := of.image(v1alpha2.DistributionSpec{Name: "starter", Version: tc.version}, &known); ok {
				got = image + " " + string(from)
			}
			if got != tc.want {
				t.Errorf("image and source %q, want %q", got, tc.want)
			}
		})
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
	want    []string // the image, that of the catalog, and the newer one
}

// imageCases returns the rows of TestImage. The operator's catalog contains the given image.
func imageCases(catalog string) []imageCase {
	const repository = "docker.io/ogxai/distribution-starter:"
	const recorded, older = repository + "0.7.0", repository + "0.3.5"
	in := func(catalog, image string, from v1alpha2.ImageSource) *v1alpha2.ResolvedDistribution {
		return &v1alpha2.ResolvedDistribution{Name: "starter", CatalogueImage: catalog, Image: image, ImageFrom: from}
	}
	inStatus, now := in(recorded, "", ""), in(catalog, "", "")
	ranBefore := in("", recorded, v1alpha2.ImageFromCatalogue)
	overridden := in("", "mirror/starter:0.7.0", v1alpha2.ImageFromOperatorConfig)
	onDeployment := rollout.Distribution{Name: "starter", CatalogueImage: recorded}
	line := v1alpha2.DistributionSpec{Version: "0.7"}
	current, kept := []string{catalog, catalog, ""}, []string{recorded, recorded, catalog}
	earlier := []string{older, older, catalog}
	return []imageCase{
		{name: "new stack", want: current},
		{name: "recorded in the status", status: inStatus, want: kept},
		{name: "running image recorded in the status", status: ranBefore, want: kept},
		{name: "image of an earlier override in the status", status: overridden, want: current},
		{name: "recorded on the Deployment", running: onDeployment, want: kept},
		{name: "changed version", asked: line, status: inStatus, want: current},
		{
			name: "override of a recorded image", status: inStatus, images: distribution.Overrides{"starter": "mirror/starter:0.7.1"},
			want: []string{"mirror/starter:0.7.1", recorded, catalog},
		},
		{name: "taken over, known version", answer: "0.3.5", want: earlier},
		{name: "taken over, another release of a known line", answer: "0.3.4.dev1+team", want: earlier},
		{name: "taken over, unknown release line", answer: "0.1.9", want: current},
		{
			name: "taken over, version reported after the takeover", answer: "0.3.5", foreign: true, status: now,
			running: rollout.Distribution{Name: "starter", CatalogueImage: catalog}, want: earlier,
		},
		{name: "taken over, unknown version", foreign: true, status: inStatus, want: kept},
		{name: "another version in the pods of this operator", answer: "0.3.5", status: inStatus, want: kept},
		{name: "taken over, version in the spec", asked: line, answer: "0.3.5", want: current},
		{name: "written on the volume", written: "0.3.5", want: []string{older, older, ""}},
		{
			name: "bare image", asked: v1alpha2.DistributionSpec{Image: "example.com/mine:1"},
			status: &v1alpha2.ResolvedDistribution{Image: "example.com/other:1"}, want: []string{"example.com/mine:1", "", ""},
		},
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
		t.Run(tc.name, func(t *testing.T) {
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
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("image, catalog image, newer image (-want +got):\n%s", diff)
			}
		})
	}
}
