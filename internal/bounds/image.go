package bounds

import (
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// dockerHub is how go-containerregistry calls the registry of images without one, which everybody else calls docker.io.
const dockerHub = "index.docker.io"

// repository returns the full name of an image without its tag or digest, as docker.io/library/redis.
func repository(image string) (string, bool) {
	reference, err := name.ParseReference(image, name.WeakValidation)
	if err != nil {
		return "", false
	}
	full := reference.Context().Name()
	if rest, found := strings.CutPrefix(full, dockerHub+"/"); found {
		full = "docker.io/" + rest
	}
	return full, true
}

// comesFrom reports whether an image lies in one of the registries, or below what begins a repository.
func comesFrom(image string, allowed []string) bool {
	full, ok := repository(image)
	if !ok || path.Clean(full) != full { // quay.io/team/../other does not lie below quay.io/team
		return false
	}
	for _, beginning := range allowed {
		beginning = strings.TrimSuffix(beginning, "/")
		if rest, found := strings.CutPrefix(beginning, dockerHub); found {
			beginning = "docker.io" + rest
		}
		if rest, found := strings.CutPrefix(full, beginning); found && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
