package bounds

import "github.com/llamastack/llama-stack-k8s-operator/internal/imagename"

// comesFrom reports whether an image lies in one of the registries, or below the beginning of a repository.
func comesFrom(image string, allowed []string) bool {
	repository, err := imagename.Repository(image)
	return err == nil && imagename.HasAnyPrefix(repository, imagename.Prefixes(allowed))
}
