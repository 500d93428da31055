package registry

import (
	"crypto/x509"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/mirror"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// Options determine which registries may be read, and how. Registries and repositories are written as in an image name:
// docker.io and index.docker.io are the same, and so are docker.io/nginx and docker.io/library/nginx.
type Options struct {
	// Allow lists the registries, or repositories below a registry, that may be read, for example quay.io or
	// registry.example.com/team. Empty means all.
	Allow []string
	// Insecure lists the registries that use plain HTTP, or a certificate from an unknown authority. These registries may
	// also have local addresses.
	Insecure []string
	// Rewrite maps the beginning of an image's name to its replacement, for example docker.io/ogxai to
	// mirror.example.com/ogxai. The longest match applies. Requests go to the replacement. The pods keep the image name
	// that is in the spec, because the nodes have their own rules for mirrors.
	Rewrite map[string]string
	// CloudIdentity lists the cloud registries, or repositories below a registry, that a Reader reads with the credentials
	// of Identities if a read has no other credentials. If the list is empty, a Reader does not use Identities.
	CloudIdentity []string
	// Identities uses the identity of the operator's own pod to get credentials. Nil means that the pod has no identity.
	Identities Identities
	// Mirrors holds the mirror sets in the cluster: places to try before the source, or instead of it. If Rewrite replaces
	// the name of an image, a Reader reads the image only at the replacement.
	Mirrors mirror.Set
	// Platform selects the image in an index. Zero means linux on the architecture of this binary.
	Platform v1.Platform
	// CheckInterval is the pause before a Pool checks again which digest a tag refers to. Zero means the Pool's default.
	CheckInterval time.Duration
	// RootCAs holds the authorities that may sign the certificates of registries. Nil means the system's authorities.
	RootCAs *x509.CertPool
	// Timeout bounds one read. Zero means 15 seconds.
	Timeout time.Duration
}

// DefaultTimeout is the default bound of one read.
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

// normal returns the options with every registry and repository in its normal form.
func (o Options) normal() Options {
	o.Allow, o.Insecure, o.Rewrite = imagename.Prefixes(o.Allow), imagename.Prefixes(o.Insecure),
		imagename.Rewrites(o.Rewrite)
	o.CloudIdentity = imagename.Prefixes(o.CloudIdentity)
	return o
}

// allows reports whether a repository, such as quay.io/team/server, may be read.
func (o Options) allows(repository string) bool {
	return len(o.Allow) == 0 || imagename.HasAnyPrefix(repository, o.Allow)
}

func (o Options) isInsecure(registry string) bool {
	return slices.Contains(o.Insecure, imagename.Registry(registry))
}

// places returns the repositories to read instead of the given one, in order. An empty result means that the given
// repository must not receive requests and has no mirror.
func (o Options) places(repository string, byDigest bool) []string {
	if rewritten := o.rewrite(repository); rewritten != repository {
		return []string{rewritten}
	}
	return o.Mirrors.Places(repository, byDigest)
}

// rewrite returns the repository to read instead of the given one.
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
