package registry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// manifestTypes lists the media types that a registry may return.
var manifestTypes = strings.Join([]string{
	string(types.OCIImageIndex), string(types.OCIManifestSchema1),
	string(types.DockerManifestList), string(types.DockerManifestSchema2),
}, ",")

// session sends requests for one repository with one set of credentials. It authenticates with the package transport of
// go-containerregistry. It does not read with the package remote (decision 0028). That package decodes every entry of a
// manifest at once, and sends requests to the addresses in a layer's descriptor. It accepts any content for a digest if
// the response claims to be a signed manifest of schema 1, and needs one more request for each image or tag.
type session struct {
	repository name.Repository
	scheme     string
	client     *http.Client
	// giver is the source of the credentials in client.
	giver authn.Authenticator
}

// digest returns the digest that a tag refers to, without the manifest. It returns false if the registry does not
// return the digest.
func (s *session) digest(ctx context.Context, tag string) (v1.Hash, bool, error) {
	response, err := s.ask(ctx, http.MethodHead, "manifests", tag)
	if err != nil {
		return v1.Hash{}, false, err
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status == http.StatusOK:
		digest, err := v1.NewHash(response.Header.Get("Docker-Content-Digest"))
		return digest, err == nil, nil
	case slices.Contains(final, status) || status >= http.StatusInternalServerError && status != http.StatusNotImplemented:
		return v1.Hash{}, false, told(s.giver, refusal(response))
	default:
		return v1.Hash{}, false, nil // the registry might not support this method
	}
}

// final lists the statuses that a registry returns regardless of the request method.
var final = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests}

// Manifest returns a manifest by tag or digest, as the registry sends it.
func (s *session) Manifest(ctx context.Context, identifier string) (io.ReadCloser, error) {
	return s.get(ctx, "manifests", identifier)
}

// Blob returns a blob as the registry sends it.
func (s *session) Blob(ctx context.Context, digest v1.Hash) (io.ReadCloser, error) {
	return s.get(ctx, "blobs", digest.String())
}

// get requests content, and returns an error if the status of the response is not 200.
func (s *session) get(ctx context.Context, kind, identifier string) (io.ReadCloser, error) {
	response, err := s.ask(ctx, http.MethodGet, kind, identifier)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, told(s.giver, refusal(response))
	}
	return response.Body, nil
}

func (s *session) ask(ctx context.Context, method, kind, identifier string) (*http.Response, error) {
	address := url.URL{
		Scheme: s.scheme, Host: s.repository.RegistryStr(),
		Path: fmt.Sprintf("/v2/%s/%s/%s", s.repository.RepositoryStr(), kind, identifier),
	}
	request, err := http.NewRequestWithContext(ctx, method, address.String(), http.NoBody)
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
	return response, nil
}
