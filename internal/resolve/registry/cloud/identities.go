package cloud

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
)

// Identities returns credentials for registries by the identity of the operator's own pod. It is safe for concurrent
// use.
type Identities struct {
	client *client
	tokens *tokens
	// within bounds one attempt to get a token, with all its steps.
	within time.Duration
}

// credentials are valid for one registry until they expire.
type credentials struct {
	config  authn.AuthConfig
	expires time.Time
}

// fetchTime bounds one attempt to get a token. It is shorter than the read that waits for it.
const fetchTime = 10 * time.Second

// Options configures Identities.
type Options struct {
	// Public reaches the services of clouds. Local reaches the addresses that give a pod its identity. Nil means the
	// network, restricted to exactly these addresses.
	Public, Local http.RoundTripper
}

// New returns an Identities. It sends no request before the first registry needs credentials.
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

// Credentials returns the credentials of a cloud registry, whose name must be in its normal form. Its errors are those
// of ctx, and Failures.
func (i *Identities) Credentials(ctx context.Context, registry string) (authn.AuthConfig, error) {
	key, fetch, err := i.source(registry)
	if err != nil {
		return authn.AuthConfig{}, err
	}
	return i.tokens.get(ctx, key, func() (credentials, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.within) // all waiting callers share it
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

// good reports whether enough time is left to use the credentials.
func (c *credentials) good(now time.Time) bool { return now.Before(c.expires.Add(-leastLife)) }

// Refused has the token replaced at the next call, because a registry did not accept it.
func (i *Identities) Refused(registry string) {
	if key, _, err := i.source(registry); err == nil {
		i.tokens.forget(key)
	}
}

// source returns the function that gets the credentials of a registry, and the key that distinguishes them from the
// credentials of other registries.
func (i *Identities) source(
	registry string,
) (key string, fetch func(context.Context, string) (credentials, error), err error) {
	cloud, _ := imagename.CloudOf(registry)
	switch cloud {
	case imagename.AWS:
		return ecrOf(registry).endpoint, i.aws, nil
	case imagename.Google:
		return string(cloud), i.google, nil
	case imagename.Azure:
		return registry, i.azure, nil
	default:
		return "", nil, fmt.Errorf("registry %q does not belong to a cloud", registry)
	}
}
