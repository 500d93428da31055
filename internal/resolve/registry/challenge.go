package registry

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

const (
	userAgent = "llama-stack-k8s-operator"
	// rememberedRegistries is for how many registries it is known how they want to be asked.
	rememberedRegistries = 64
	// maxRedirects bounds the redirects that one request follows.
	maxRedirects = 10
)

// connect learns how the registry wants to be asked, unless that is known, and gets a token where it wants one. What is
// known of a registry is what it says to everybody.
func (r *Reader) connect(ctx context.Context, repository name.Repository, auth authn.Authenticator) (*session, error) {
	through := transport.NewUserAgent(r.through, userAgent)
	challenge, err := r.challenge(ctx, repository.Registry, through)
	if err != nil {
		return nil, err
	}
	scheme := "https"
	if challenge.Insecure {
		scheme = "http"
	}
	through = &ownScheme{inner: through, scheme: scheme, registry: repository.Registry}
	token, err := tokenFor(ctx, repository, auth, through, challenge)
	if err != nil {
		return nil, sanitize(err)
	}
	authenticated, err := transport.FromToken(repository.Registry, auth, through, challenge, token)
	if err != nil {
		return nil, sanitize(err)
	}
	return &session{
		repository: repository, scheme: scheme,
		client: &http.Client{Transport: authenticated, CheckRedirect: checkRedirects},
	}, nil
}

// challenge is how a registry wants to be asked.
func (r *Reader) challenge(ctx context.Context, registry name.Registry, through http.RoundTripper) (*transport.Challenge, error) {
	if known, ok := r.challenges.Get(registry.RegistryStr()); ok {
		return known.(*transport.Challenge), nil
	}
	challenge, err := transport.Ping(ctx, registry, through)
	if err != nil {
		return nil, sanitize(err)
	}
	r.challenges.Add(registry.RegistryStr(), challenge)
	return challenge, nil
}

// tokenFor is the token to ask a repository with. It is empty where the registry wants none.
func tokenFor(
	ctx context.Context, repository name.Repository, auth authn.Authenticator, through http.RoundTripper, challenge *transport.Challenge,
) (*transport.Token, error) {
	if !isBearer(challenge) {
		return &transport.Token{}, nil
	}
	config, err := authn.Authorization(ctx, auth)
	if err != nil {
		return nil, err
	}
	if config.RegistryToken != "" {
		return &transport.Token{Token: config.RegistryToken}, nil
	}
	token, err := transport.Exchange(ctx, repository.Registry, auth, through, []string{repository.Scope(transport.PullScope)}, challenge)
	if err != nil {
		return nil, err
	}
	if token.AccessToken != "" { // some registries call it that
		token.Token = token.AccessToken
	}
	return token, nil
}

func isBearer(challenge *transport.Challenge) bool {
	return strings.EqualFold(challenge.Scheme, "bearer")
}

// ownScheme asks a registry by the scheme that it answered to, also where its redirects to itself name another one.
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

// checkRedirects bounds redirects. Each request that they lead to is looked at by the transport.
func checkRedirects(_ *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return errRedirects
	}
	return nil
}
