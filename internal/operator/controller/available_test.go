package controller

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// TestAvailable checks that the available distributions include the image overrides only while the overrides are set.
func TestAvailable(t *testing.T) {
	var known available
	catalog := maps.Clone(known.with(nil))
	if catalog["starter"] == "" {
		t.Fatalf("the distribution starter is missing in %v", catalog)
	}
	want := maps.Clone(catalog)
	want["starter"], want["ours"] = "a:1", "b:1"
	for range 2 {
		if diff := cmp.Diff(want, known.with(distribution.Overrides{"starter": "a:1", "ours": "b:1"})); diff != "" {
			t.Errorf("with overrides (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(catalog, known.with(distribution.Overrides{})); diff != "" {
		t.Errorf("after the removal of the overrides (-want +got):\n%s", diff)
	}
}
