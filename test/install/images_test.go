package install

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// listed returns the images in dist/images.txt.
func listed(t *testing.T) []string {
	t.Helper()
	var images []string
	for line := range strings.Lines(readFile(t, "dist/images.txt")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			images = append(images, line)
		}
	}
	return images
}

// imagesIn collects the images of containers anywhere in an object.
func imagesIn(value any, found map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			text, ok := inner.(string)
			switch {
			case ok && key == "image":
				found[text] = true
			default:
				imagesIn(inner, found)
			}
		}
	case []any:
		for _, inner := range value {
			imagesIn(inner, found)
		}
	}
}

// The list of images contains every image that a cluster pulls because of a manifest, the chart or the catalog, and
// no other image.
func TestEveryImageIsListed(t *testing.T) {
	found := map[string]bool{}
	add := func(objects map[string][]*unstructured.Unstructured) {
		for kind, each := range objects {
			if kind == "CustomResourceDefinition" { // the schema has fields for images, but contains no image
				continue
			}
			for _, object := range each {
				imagesIn(object.Object, found)
			}
		}
	}
	for _, name := range manifests {
		add(read(t, name))
	}
	for _, folder := range chartCases(t) {
		add(rendered(t, folder))
	}
	for image := range found {
		if strings.HasPrefix(image, "registry.example.com/") { // the image is from the values of a chart test case
			delete(found, image)
		}
	}
	if len(found) == 0 {
		t.Fatal("the manifests contain no image")
	}
	for _, one := range distribution.Images() {
		found[one.Image] = true
	}
	images := listed(t)
	for image := range found {
		if !slices.Contains(images, image) {
			t.Errorf("%s is not in dist/images.txt: run make generate", image)
		}
	}
	for _, image := range images {
		if !found[image] {
			t.Errorf("%s is in dist/images.txt, but not in a manifest, the chart or the catalog: run make generate", image)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(images)))) != len(images) {
		t.Error("dist/images.txt contains an image twice")
	}
}

// chartCases returns the names of the cases for which the tests render the chart.
func chartCases(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(testutil.Root(), "test/chart/testdata/render/*/want"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d cases of the chart, error %v", len(folders), err)
	}
	for i := range folders {
		folders[i] = filepath.Base(filepath.Dir(folders[i]))
	}
	return folders
}

// imageText matches an image that is written directly in a template and not taken from a value.
var imageText = regexp.MustCompile(`(?m)^\s*(?:- )?image:\s*([^\s{"]\S*|"[^{]\S*)`)

// No chart template contains an image directly. The test above cannot check this, because it finds only the images in
// the rendered cases.
func TestTemplatesNameNoImage(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testutil.Root(), "charts/llama-stack-k8s-operator/templates/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d templates, error %v", len(files), err)
	}
	for _, file := range files {
		name, err := filepath.Rel(testutil.Root(), file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range imageText.FindAllStringSubmatch(readFile(t, name), -1) {
			t.Errorf("%s contains the image %q: use a value of the chart instead, and add the image to dist/images.txt", name, match[1])
		}
	}
}
