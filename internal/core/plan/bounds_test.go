package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// Like the server's image, the images of external providers and of model files must come from the registries that an
// administrator allows.
func TestBoundedImages(t *testing.T) {
	object := &v1alpha2.LlamaStackDistribution{}
	if err := yaml.UnmarshalStrict([]byte(`
distribution: {name: starter}
externalProviders:
  vectorIo: [{providerId: b, image: quay.io/evil/b}]
  inference: [{providerId: a, image: quay.io/team/a}, {providerId: c, image: docker.io/team/c}]
modelFiles: {image: {reference: docker.io/team/models}}
`), &object.Spec); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, err := range plan.Bounded(&bounds.Rule{Images: []string{"quay.io/team"}}, object, "quay.io/team/server") {
		got = append(got, err.Field)
	}
	want := []string{"spec.externalProviders.inference[1].image", "spec.externalProviders.vectorIo[0].image", "spec.modelFiles.image.reference"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
