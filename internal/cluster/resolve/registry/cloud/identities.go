package cloud

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// Identities uses the identity of the operator's own pod to get credentials for registries. It is safe for concurrent
// use.
type Identities struct {
	client *client
	tokens *tokens
	// within is the time limit for one attempt to get a token, including all its steps.
	within time.Duration
}

// credentials are valid until they expire, for all registries with the same key (see source).
type credentials struct {
	config  authn.AuthConfig
	expires time.Time
}

// fetchTime bounds one attempt to get a token. It is shorter than the default timeout of the read that waits for the
// token.
const fetchTime = 10 * time.Second

// Options configures Identities.
type Options struct {
	// Public reaches the public services of the clouds. Local reaches the addresses that give a pod its identity. If a
	// field is nil, newClient creates its transport. The transport that newClient creates for Local reaches only the
	// addresses that give a pod its identity.
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

// Credentials returns the credentials for a cloud registry, whose name must be in its normal form. The error is the
// context's error or a *Failure.
func (i *Identities) Credentials(ctx context.Context, registry string) (authn.AuthConfig, error) {
	from, err := i.source(registry)
	if err != nil {
		return authn.AuthConfig{}, err
	}
	return i.tokens.get(ctx, from.key, func() (credentials, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.within) // all waiting callers share the attempt
		defer cancel()
		defer i.client.close()
		found, err := from.fetch(ctx, registry)
		switch {
		case err != nil:
			return credentials{}, fail(from.cloud, err, from.remedy)
		case !found.good(time.Now()):
			return credentials{}, fail(from.cloud, errExpired, "")
		}
		return found, nil
	})
}

// good reports whether the credentials remain valid long enough to be used.
func (c *credentials) good(now time.Time) bool { return now.Before(c.expires.Add(-leastLife)) }

// Refused records that a registry did not accept the token. The next call to Credentials replaces the token, unless the
// token is new.
func (i *Identities) Refused(registry string) {
	if from, err := i.source(registry); err == nil {
		i.tokens.forget(from.key)
	}
}

// source describes how to get the credentials for a registry. Registries with the same key share their credentials.
type source struct {
	cloud  imagename.Cloud
	key    string
	fetch  func(ctx context.Context, registry string) (credentials, error)
	remedy string // the remedy for a failed fetch
}

func (i *Identities) source(registry string) (source, error) {
	cloud, _ := imagename.CloudOf(registry)
	switch cloud {
	case imagename.AWS:
		return source{cloud, ecrOf(registry).endpoint, i.aws, awsRemedy}, nil
	case imagename.Google:
		return source{cloud, string(cloud), i.google, googleRemedy}, nil
	case imagename.Azure:
		return source{cloud, registry, i.azure, azureRemedy}, nil
	default:
		return source{}, fmt.Errorf("registry %q does not belong to a cloud provider", registry)
	}
}
