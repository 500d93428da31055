package manager

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
)

// relatedImagePrefix begins the variables by which an installer of a mirrored
// catalogue replaces images: RELATED_IMAGE_POSTGRES_DEMO for postgres-demo.
const relatedImagePrefix = "RELATED_IMAGE_"

// relatedImages are the overrides that the environment asks for.
func relatedImages(getenv func(string) string) distribution.Overrides {
	overrides := distribution.Overrides{}
	for _, name := range distribution.Known(nil) {
		variable := relatedImagePrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if image := getenv(variable); image != "" {
			overrides[name] = image
		}
	}
	return overrides
}
