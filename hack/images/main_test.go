package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

func TestNamed(t *testing.T) {
	manifest := `
kind: CustomResourceDefinition
spec: {description: a schema, image: none}
---
kind: Deployment
metadata: {annotations: {text: "image: none"}}
spec:
  template:
    spec:
      initContainers: [{image: "quay.io/b:2"}]
      containers:
      - name: manager
        image: a/operator:1 # the operator
`
	images, err := named([]byte(manifest))
	slices.Sort(images)
	if diff := cmp.Diff([]string{"a/operator:1", "quay.io/b:2"}, images); diff != "" || err != nil {
		t.Errorf("images (-want +got), %v:\n%s", err, diff)
	}
	if _, err := named([]byte("a: b: c")); err == nil {
		t.Error("there is no error for a text that is not YAML")
	}
}

func TestList(t *testing.T) {
	var page bytes.Buffer
	list(&page, []string{"operator:1"}, []distribution.CatalogueImage{
		{Name: "a", Version: "1.0.0", Image: "docker.io/a:1.0.0"},
		{Name: "a", Version: "1.1.0", Image: "docker.io/a:1.1.0"},
		{Name: "b", Version: "1.1.0", Image: "docker.io/b:1.1.0"},
	})
	want := header + `
# the operator
operator:1

# server images for stacks with spec.distribution.name a, by release
docker.io/a:1.0.0
docker.io/a:1.1.0

# server images for stacks with spec.distribution.name b, by release
docker.io/b:1.1.0
`
	if diff := cmp.Diff(want, page.String()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestManifestsWithoutImage(t *testing.T) {
	folder := t.TempDir()
	manifest := filepath.Join(folder, "manifest.yaml")
	if err := os.WriteFile(manifest, []byte("kind: Namespace\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(filepath.Join(folder, "images.txt"), []string{manifest})
	if err == nil || !strings.Contains(err.Error(), "contain no image") {
		t.Errorf("error %v", err)
	}
}
