package controller

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestBaseConfig checks the precedence of the sources of the base configuration: the user's ConfigMap, the labels of
// the image, the running configuration, the catalog.
func TestBaseConfig(t *testing.T) {
	const (
		plain   = `{distribution: {name: starter}}`
		models  = `{distribution: {name: starter}, resources: {models: [m]}}`
		withKey = `{distribution: {name: starter}, baseConfig: {configMapName: mine, key: base.yaml}}`
	)
	known, err := distribution.Resolve("starter", "", "", nil)
	testutil.Must(t, err)
	none := known
	none.Base = nil
	kept := rollout.Record{
		BaseConfigMap: "my-base", BaseSource: string(v1alpha2.ConfigSourceEmbedded), Image: known.Image,
		Distribution: rollout.Distribution{Name: "starter", Image: known.Image},
	}
	same, anotherImage, ofLabel, lost, pinned := kept, kept, kept, kept, kept
	same.Base = plan.BaseHash(known.Base)
	anotherImage.Distribution.Image = "example.com/mine:1"
	ofLabel.BaseSource = string(v1alpha2.ConfigSourceOCILabel)
	lost.BaseConfigMap = "my-lost"
	pinned.Distribution.Digest, pinned.Image = "sha256:1", known.Image+"@sha256:1"
	unread := errors.New("unread")
	embedded := &plan.Base{Data: known.Base, Source: v1alpha2.ConfigSourceEmbedded}
	for name, tc := range map[string]struct {
		spec    string
		labels  images.Labels
		running rollout.Record
		want    *plan.Base
		err     error
	}{
		"no base is needed": {spec: plain, labels: images.Labels{Distribution: known}},
		"the image is not read yet": {
			spec: models, labels: images.Labels{Distribution: known, Unread: unread}, err: unread,
		},
		"the user's base":                       {spec: withKey, labels: images.Labels{Distribution: known}, want: &plan.Base{Data: []byte("mine"), Source: v1alpha2.ConfigSourceConfigMap}},
		"the user's base and a base in a label": {spec: withKey, labels: images.Labels{Distribution: known, Config: []byte("label")}, want: &plan.Base{Data: []byte("mine"), Source: v1alpha2.ConfigSourceConfigMap}},
		"a base in a label":                     {spec: models, labels: images.Labels{Distribution: known, Config: []byte("label")}, want: &plan.Base{Data: []byte("label"), Source: v1alpha2.ConfigSourceOCILabel}},
		"no base":                               {spec: models, labels: images.Labels{Distribution: none}},
		"the catalog's base":                    {spec: models, labels: images.Labels{Distribution: known}, want: embedded},
		"the running base":                      {spec: models, labels: images.Labels{Distribution: known}, running: kept, want: &plan.Base{Data: []byte("kept"), Source: v1alpha2.ConfigSourceEmbedded}},
		"the running base, and the pods keep the digest of a tag": {
			spec: models, labels: images.Labels{Distribution: known, Digest: "sha256:1"}, running: pinned,
			want: &plan.Base{Data: []byte("kept"), Source: v1alpha2.ConfigSourceEmbedded},
		},
		"the tag of the running image moved": {
			spec: models, labels: images.Labels{Distribution: known, Digest: "sha256:2"}, running: pinned, want: embedded,
		},
		"the running base equals the catalog's base": {
			spec: models, labels: images.Labels{Distribution: known}, running: same, want: embedded,
		},
		"the running base is from another image": {
			spec: models, labels: images.Labels{Distribution: known}, running: anotherImage,
			want: embedded,
		},
		"the running base is from a label": {
			spec: models, labels: images.Labels{Distribution: known}, running: ofLabel, want: embedded,
		},
		"the copy of the running base is missing": {
			spec: models, labels: images.Labels{Distribution: known}, running: lost, want: embedded,
		},
	} {
		t.Run(name, func(t *testing.T) {
			own := testutil.NewStack(t, tc.spec)
			f := newFixture(t, &corev1.ConfigMap{
				ObjectMeta: testutil.ChildMeta(own, "my-base"), Data: map[string]string{names.BaseFile: "kept"},
			})
			image := &images.Image{Image: facts.Image{From: v1alpha2.ImageFromCatalogue}}
			contents := resolve.Contents{"mine": {"base.yaml": []byte("mine")}}
			got, err := f.planner.Base(t.Context(), own, image, &tc.labels, contents, &workload{Record: tc.running})
			if !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("base (-want +got):\n%s", diff)
			}
		})
	}
}
