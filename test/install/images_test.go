package install

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

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

// images returns the images of the objects. It skips CustomResourceDefinitions, whose schemas have fields for images.
func images(each ...manifest) []string {
	found := map[string]bool{}
	for _, objects := range each {
		for kind, ofKind := range objects {
			for _, object := range ofKind {
				if kind != "CustomResourceDefinition" {
					imagesIn(object.Object, found)
				}
			}
		}
	}
	// These images are from the values of a chart test case.
	maps.DeleteFunc(found, func(image string, _ bool) bool { return strings.HasPrefix(image, "registry.example.com/") })
	return slices.Sorted(maps.Keys(found))
}

// The chart runs the same images as the manifests, from which `make manifests` makes the list of images.
func TestSameImages(t *testing.T) {
	var shipped, charts []manifest
	for _, name := range manifests {
		shipped = append(shipped, read(t, name))
	}
	for _, folder := range chartCases(t) {
		charts = append(charts, rendered(t, folder))
	}
	want := images(shipped...)
	if diff := cmp.Diff(want, images(charts...)); diff != "" || len(want) == 0 {
		t.Errorf("%d images of the manifests (-manifests +chart):\n%s", len(want), diff)
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
		testutil.Must(t, err)
		for _, match := range imageText.FindAllStringSubmatch(readFile(t, name), -1) {
			t.Errorf("%s contains the image %q: use a value of the chart instead", name, match[1])
		}
	}
}
