package registry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const userAgent = "llama-stack-k8s-operator"

// manifestTypes are the media types that a registry may answer with.
var manifestTypes = strings.Join([]string{
	string(types.OCIImageIndex), string(types.OCIManifestSchema1),
	string(types.DockerManifestList), string(types.DockerManifestSchema2),
}, ",")

// session asks one repository with one set of credentials.
type session struct {
	repository name.Repository
	client     *http.Client
}

// connect learns how the registry wants to be asked, and gets a token where it wants
// one.
func connect(ctx context.Context, repository name.Repository, auth authn.Authenticator, through http.RoundTripper) (*session, error) {
	authenticated, err := transport.NewWithContext(ctx, repository.Registry, auth,
		transport.NewUserAgent(through, userAgent), []string{repository.Scope(transport.PullScope)})
	if err != nil {
		return nil, sanitize(err)
	}
	return &session{repository: repository, client: &http.Client{Transport: authenticated}}, nil
}

// Manifest is a manifest by tag or digest, as the registry sends it.
func (s *session) Manifest(ctx context.Context, identifier string) (io.ReadCloser, error) {
	return s.get(ctx, "manifests", identifier)
}

// Blob is a blob as the registry sends it.
func (s *session) Blob(ctx context.Context, digest v1.Hash) (io.ReadCloser, error) {
	return s.get(ctx, "blobs", digest.String())
}

func (s *session) get(ctx context.Context, kind, identifier string) (io.ReadCloser, error) {
	address := url.URL{
		Scheme: s.repository.Scheme(), Host: s.repository.RegistryStr(),
		Path: fmt.Sprintf("/v2/%s/%s/%s", s.repository.RepositoryStr(), kind, identifier),
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return nil, sanitize(err)
	}
	if kind == "manifests" {
		request.Header.Set("Accept", manifestTypes)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, sanitize(err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, refusal(response)
	}
	return response.Body, nil
}
