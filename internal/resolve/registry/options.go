package registry

import (
	"crypto/x509"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry/mirror"
)

// Options say which registries may be asked, and how. Registries and repositories are
// written as in the name of an image: docker.io and index.docker.io are one, and
// docker.io/nginx is docker.io/library/nginx as well.
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
	// CloudIdentity are registries of clouds, or repositories below one, that are asked with the credentials of Identities
	// where a read has no others. Empty: none.
	CloudIdentity []string
	// Identities are those of the operator's own pod. Nil: it has none.
	Identities Identities
	// Mirrors are what mirror sets of the cluster say: places to ask first, or alone. What Rewrite replaces is asked for at
	// the replacement, and nowhere else.
	Mirrors mirror.Set
	// Platform is which image of several is read. Zero: linux, on the architecture
	// of this program.
	Platform v1.Platform
	// CheckInterval is the pause before a Pool asks again what a tag stands for. Zero: that of the Pool.
	CheckInterval time.Duration
	// RootCAs are the authorities whose certificates registries may have. Nil: those of the system.
	RootCAs *x509.CertPool
	// Timeout bounds one read. Zero: 15 seconds.
	Timeout time.Duration
}

// DefaultTimeout is how long the operator reads an image at most.
const DefaultTimeout = 15 * time.Second

func (o Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return DefaultTimeout
}

func (o Options) platform() v1.Platform {
	if o.Platform.OS != "" {
		return o.Platform
	}
	return v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
}

// normal are the options in one spelling of every registry and repository.
func (o Options) normal() Options {
	o.Allow, o.Insecure, o.Rewrite = imagename.Prefixes(o.Allow), imagename.Prefixes(o.Insecure), imagename.Rewrites(o.Rewrite)
	o.CloudIdentity = imagename.Prefixes(o.CloudIdentity)
	return o
}

// allows reports whether a repository (quay.io/team/server) may be asked.
func (o Options) allows(repository string) bool {
	return len(o.Allow) == 0 || imagename.HasAnyPrefix(repository, o.Allow)
}

func (o Options) isInsecure(registry string) bool {
	return slices.Contains(o.Insecure, imagename.Registry(registry))
}

// places are the repositories to ask instead of one, in their order. None: it may not be asked, and has no mirror.
func (o Options) places(repository string, byDigest bool) []string {
	if rewritten := o.rewrite(repository); rewritten != repository {
		return []string{rewritten}
	}
	return o.Mirrors.Places(repository, byDigest)
}

// rewrite is the repository to ask instead of one.
func (o Options) rewrite(repository string) string {
	best := ""
	for from := range o.Rewrite {
		if imagename.HasPrefix(repository, from) && len(from) > len(best) {
			best = from
		}
	}
	if best == "" {
		return repository
	}
	return o.Rewrite[best] + strings.TrimPrefix(repository, best)
}
