package registry

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
)

const (
	userAgent = "llama-stack-k8s-operator"
	// rememberedRegistries is the number of registries whose challenge a Reader remembers.
	rememberedRegistries = 64
)

// connect returns a session for a repository. It requests the registry's challenge unless the challenge is remembered,
// and gets a token if the registry requires one. A challenge can be remembered because it is the same for every client.
func (r *Reader) connect(ctx context.Context, repository name.Repository, auth authn.Authenticator) (*session, error) {
	through := transport.NewUserAgent(r.through, userAgent)
	challenge, err := r.challenge(ctx, repository.Registry, through)
	if err != nil {
		return nil, err
	}
	giver := auth
	if auth, err = r.settle(ctx, auth, challenge); err != nil {
		return nil, err
	}
	scheme := "https"
	if challenge.Insecure {
		scheme = "http"
	}
	through = &ownScheme{inner: through, scheme: scheme, registry: repository.Registry}
	token, err := r.token(ctx, repository, auth, through, challenge)
	if err != nil {
		return nil, fmt.Errorf("get a token: %w", told(giver, sanitize(err)))
	}
	authenticated, err := transport.FromToken(repository.Registry, auth, through, challenge, token)
	if err != nil {
		return nil, sanitize(err)
	}
	return &session{
		repository: repository, scheme: scheme, giver: giver,
		client: &http.Client{Transport: authenticated},
	}, nil
}

// challenge returns the challenge of a registry. The challenge specifies how clients authenticate.
func (r *Reader) challenge(
	ctx context.Context, registry name.Registry, through http.RoundTripper,
) (*transport.Challenge, error) {
	if known, ok := r.challenges.Get(registry.RegistryStr()); ok {
		return known.(*transport.Challenge), nil
	}
	challenge, err := transport.Ping(ctx, registry, through)
	if err != nil {
		return nil, sanitize(err)
	}
	challenge = inShort(challenge)
	r.challenges.Add(registry.RegistryStr(), challenge)
	return challenge, nil
}

// maxParameter is the maximum size, in bytes, of a parameter of a challenge. A longer one counts as missing.
const maxParameter = 8 << 10

// inShort returns the parts of a challenge that a session uses, in copies. A header can have tens of thousands of
// parameters, which need megabytes of memory.
func inShort(challenge *transport.Challenge) *transport.Challenge {
	kept := &transport.Challenge{Insecure: challenge.Insecure, Parameters: map[string]string{}}
	kept.Scheme = strings.Clone(challenge.Scheme[:min(len(challenge.Scheme), maxShown)])
	for _, name := range []string{"realm", "service"} {
		if value, ok := challenge.Parameters[name]; ok && len(value) <= maxParameter {
			kept.Parameters[name] = strings.Clone(value)
		}
	}
	return kept
}

// token returns the token for a repository. The token is empty if the registry does not require a token.
func (r *Reader) token(
	ctx context.Context, repository name.Repository, auth authn.Authenticator, through http.RoundTripper,
	challenge *transport.Challenge,
) (*transport.Token, error) {
	if !isBearer(challenge) {
		return &transport.Token{}, nil
	}
	if err := r.checkRealm(challenge.Parameters["realm"]); err != nil {
		return nil, err
	}
	config, err := authn.Authorization(ctx, auth)
	if err != nil {
		return nil, err
	}
	if config.RegistryToken != "" {
		return &transport.Token{Token: config.RegistryToken}, nil
	}
	token, err := transport.Exchange(ctx, repository.Registry, auth, through,
		[]string{repository.Scope(transport.PullScope)}, challenge)
	if err != nil {
		return nil, err
	}
	if token.AccessToken != "" { // some registries use this field
		token.Token = token.AccessToken
	}
	return token, nil
}

// checkRealm checks the token server before the library does, because the library's errors are not typed.
func (r *Reader) checkRealm(realm string) error {
	place, err := url.Parse(realm)
	switch {
	case err != nil || realm == "":
		return errRealm
	case r.options.isInsecure(place.Host):
		return nil
	case place.Scheme == "http":
		return errPlainHTTP
	case place.Scheme != "https":
		return errScheme
	default:
		return address.CheckWritten(place)
	}
}

func isBearer(challenge *transport.Challenge) bool {
	return strings.EqualFold(challenge.Scheme, "bearer")
}

// ownScheme sends requests to a registry with the scheme of the registry's challenge, even if the registry redirects to
// itself with a different scheme.
type ownScheme struct {
	inner    http.RoundTripper
	scheme   string
	registry name.Registry
}

// RoundTrip sends one request.
func (o *ownScheme) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host == o.registry.RegistryStr() {
		request.URL.Scheme = o.scheme
	}
	return o.inner.RoundTrip(request)
}
