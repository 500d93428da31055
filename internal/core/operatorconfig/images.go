package operatorconfig

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

const imageOverridesHelp = `# Images that replace those of the catalog. Each entry maps the name of a
# distribution, or name@version, to an image. Running stacks get the image
# immediately. If you remove an entry, they return to the image that they were
# created with. A name that is not in the catalog adds a distribution.
# Its base configuration is in the image or in spec.baseConfig.
# starter: registry.example.com/mirror/distribution-starter:0.7.1
# starter@0.7.3: registry.example.com/mirror/distribution-starter:0.7.3
# rh-dev: registry.example.com/team/rh-dev:1.0
`

var nameForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)

// maxName is the API's limit on spec.distribution.name.
const maxName = 63

func readImages(r *reader, root node, images *distribution.Overrides) {
	*images = distribution.Overrides{}
	for _, e := range r.entries(root, (*field.Path).Key) {
		if problem := overrideKey(e.key); problem != "" {
			r.fail(e.value.path, e.key, problem)
			continue
		}
		image, ok := r.text(e.value)
		if !ok {
			continue
		}
		r.errs = append(r.errs, validate.Image(e.value.path, image)...)
		(*images)[e.key] = image
	}
}

// overrideKey returns the problem with a key that is neither a valid name nor a valid name and version. It returns an
// empty string for a valid key.
func overrideKey(key string) string {
	name, version, versioned := strings.Cut(key, "@")
	if len(name) > maxName || !nameForm.MatchString(name) {
		return fmt.Sprintf(`%q is not a valid distribution name: use at most 63 letters, digits, "-", "_" and ".", and begin and end with a letter or digit`, name)
	}
	if !versioned {
		return ""
	}
	if _, err := release.LookupOffered(version); err != nil {
		return fmt.Sprintf("version %q: %v", version, err)
	}
	return ""
}

// ImagesChanged returns the names whose images differ between two configs, sorted.
func ImagesChanged(a, b Config) []string {
	var names []string
	for _, key := range slices.Concat(slices.Collect(maps.Keys(a.Images)), slices.Collect(maps.Keys(b.Images))) {
		if a.Images[key] != b.Images[key] {
			name, _, _ := strings.Cut(key, "@")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
