package cloud

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
)

// Identities gives the credentials of registries by the identity of the operator's own pod. It is for use by many
// goroutines.
type Identities struct {
	client *client
	tokens *tokens
	// within bounds one attempt to get a token, with all its steps.
	within time.Duration
}

// credentials are those of a registry, for a while.
type credentials struct {
	config  authn.AuthConfig
	expires time.Time
}

// fetchTime is how long one attempt to get a token takes at most. It is shorter than the read that waits for it.
const fetchTime = 10 * time.Second

// Options of Identities.
type Options struct {
	// Public reaches the services of clouds, Local the addresses that give a pod its identity. Nil: by the network, each
	// these addresses and no others.
	Public, Local http.RoundTripper
}

// New makes identities; nobody is asked before the first registry.
func New(options Options) *Identities {
	through := newClient()
	if options.Public != nil {
		through.public = options.Public
	}
	if options.Local != nil {
		through.local = options.Local
	}
	return &Identities{client: through, tokens: newTokens(), within: fetchTime}
}

// Credentials gives those of a registry, which is in its normal form and one of a cloud. Its errors are those of ctx, and
// Failures.
func (i *Identities) Credentials(ctx context.Context, registry string) (authn.AuthConfig, error) {
	key, fetch, err := i.source(registry)
	if err != nil {
		return authn.AuthConfig{}, err
	}
	return i.tokens.get(ctx, key, func() (credentials, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.within) // all who wait share it
		defer cancel()
		defer i.client.close()
		found, err := fetch(ctx, registry)
		if err == nil && !found.good(time.Now()) {
			cloud, _ := imagename.CloudOf(registry)
			err = fail(cloud, errExpired, "")
		}
		return found, err
	})
}

// good reports whether there is time to use them.
func (c *credentials) good(now time.Time) bool { return now.Before(c.expires.Add(-leastLife)) }

// Refused has another token got the next time, because a registry did not take this one.
func (i *Identities) Refused(registry string) {
	if key, _, err := i.source(registry); err == nil {
		i.tokens.forget(key)
	}
}

// source is how the credentials of a registry are got, and what tells them apart from those of others.
func (i *Identities) source(registry string) (key string, fetch func(context.Context, string) (credentials, error), err error) {
	cloud, _ := imagename.CloudOf(registry)
	switch cloud {
	case imagename.AWS:
		return ecrOf(registry).endpoint, i.aws, nil
	case imagename.Google:
		return string(cloud), i.google, nil
	case imagename.Azure:
		return registry, i.azure, nil
	default:
		return "", nil, fmt.Errorf("registry %q is none of a cloud", registry)
	}
}
