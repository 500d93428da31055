package registry

import (
	"context"
	"encoding/hex"
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

// maxManifest bounds a manifest and the configuration of an image. A registry does
// not have to take larger manifests (OCI distribution specification, "Pushing
// Manifests").
const maxManifest = 4 << 20

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

// manifest reads a manifest by tag or digest. Its bytes have the digest that is
// returned, which is the one that was asked for.
func (s *session) manifest(ctx context.Context, identifier string) ([]byte, v1.Hash, error) {
	response, err := s.get(ctx, "manifests", identifier)
	if err != nil {
		return nil, v1.Hash{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxManifest+1))
	if err != nil {
		return nil, v1.Hash{}, sanitize(err)
	}
	if len(content) > maxManifest {
		return nil, v1.Hash{}, tooLarge("manifest", maxManifest)
	}
	wanted, err := v1.NewHash(identifier)
	byTag := err != nil
	if byTag {
		wanted.Algorithm = "sha256"
	}
	hasher, err := v1.Hasher(wanted.Algorithm)
	if err != nil {
		return nil, v1.Hash{}, err
	}
	hasher.Write(content)
	found := v1.Hash{Algorithm: wanted.Algorithm, Hex: hex.EncodeToString(hasher.Sum(nil))}
	if !byTag && found != wanted {
		return nil, v1.Hash{}, errWrongContent
	}
	return content, found, nil
}

// blob hands the content of a blob to use, and reads it to its end. What use made of
// it counts only when blob returns no errWrongContent.
func (s *session) blob(ctx context.Context, of descriptor, use func(io.Reader) error) error {
	response, err := s.get(ctx, "blobs", of.Digest.String())
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return verified(response.Body, of, use)
}

func (s *session) get(ctx context.Context, kind, identifier string) (*http.Response, error) {
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
	return response, nil
}

// verified hands content to use, reads the rest, and compares size and digest with
// what a manifest says of it. It returns the error of use only for the right content:
// nobody learns from forged bytes that an image is broken.
func verified(content io.Reader, of descriptor, use func(io.Reader) error) error {
	hasher, err := v1.Hasher(of.Digest.Algorithm)
	if err != nil {
		return errNoManifest
	}
	// One byte more than there should be shows that there is more.
	limited := &io.LimitedReader{R: content, N: of.Size + 1}
	reader := io.TeeReader(limited, hasher)
	used := use(reader)
	if _, err := io.Copy(io.Discard, reader); err != nil {
		return sanitize(err)
	}
	if limited.N != 1 || hex.EncodeToString(hasher.Sum(nil)) != of.Digest.Hex {
		return errWrongContent
	}
	return used
}
