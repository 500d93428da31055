package registry

import (
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Options say which registries may be asked, and how.
type Options struct {
	// Allow are the registries, or repositories below one, that may be asked:
	// quay.io, registry.example.com/team. Empty: all of them.
	Allow []string
	// Insecure are the registries that speak plain HTTP, or have a certificate that
	// nobody knows. They may have local addresses, too.
	Insecure []string
	// Rewrite replaces the beginning of an image's name, the longest match first:
	// docker.io/ogxai to mirror.example.com/ogxai. What is asked is the replacement;
	// what runs stays the image of the spec, which the nodes rewrite by themselves.
	Rewrite map[string]string
	// Platform is which image of several is read. Zero: linux, on the architecture
	// of this program.
	Platform v1.Platform
	// Timeout bounds one read. Zero: 15 seconds.
	Timeout time.Duration
}

const defaultTimeout = 15 * time.Second

func (o Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return defaultTimeout
}

func (o Options) platform() v1.Platform {
	if o.Platform.OS != "" {
		return o.Platform
	}
	return v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
}

// allows says whether a repository (quay.io/team/server) may be asked.
func (o Options) allows(repository string) bool {
	return len(o.Allow) == 0 || slices.ContainsFunc(o.Allow, func(allowed string) bool { return isBelow(repository, allowed) })
}

func (o Options) isInsecure(registry string) bool { return slices.Contains(o.Insecure, registry) }

// rewrite is the repository to ask instead of one.
func (o Options) rewrite(repository string) string {
	best := ""
	for prefix := range o.Rewrite {
		if isBelow(repository, prefix) && len(prefix) > len(best) {
			best = prefix
		}
	}
	if best == "" {
		return repository
	}
	return strings.TrimSuffix(o.Rewrite[best], "/") + strings.TrimPrefix(repository, strings.TrimSuffix(best, "/"))
}

func isBelow(repository, prefix string) bool {
	prefix = strings.TrimSuffix(prefix, "/")
	return repository == prefix || strings.HasPrefix(repository, prefix+"/")
}
