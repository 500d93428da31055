package manager

import "github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"

// relatedImages returns the image overrides in the environment.
func relatedImages(getenv func(string) string) distribution.Overrides {
	overrides := distribution.Overrides{}
	for _, name := range distribution.Known(nil) {
		if image := getenv(distribution.RelatedImage(name)); image != "" {
			overrides[name] = image
		}
	}
	return overrides
}
