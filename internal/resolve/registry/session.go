package registry

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

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
	scheme     string
	client     *http.Client
}

// digest is what a tag stands for, as the registry says without its manifest. False: it does not say.
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
		return v1.Hash{}, false, refusal(response)
	default:
		return v1.Hash{}, false, nil // it may not know this method
	}
}

// final are the answers to one method that are those to any.
var final = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests}

// manifest reads a manifest by tag or digest. Its bytes have the digest that is
// returned, which is the one that was asked for.
func (s *session) manifest(ctx context.Context, identifier string) ([]byte, v1.Hash, error) {
	wanted, err := v1.NewHash(identifier)
	byTag := err != nil
	if byTag {
		wanted.Algorithm = "sha256"
	}
	hasher, err := v1.Hasher(wanted.Algorithm)
	if err != nil {
		return nil, v1.Hash{}, errNoImage
	}
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
	if _, err := of.hasher(); err != nil {
		return err
	}
	response, err := s.get(ctx, "blobs", of.Digest.String())
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return verified(response.Body, of, use)
}

// get asks for something that is there.
func (s *session) get(ctx context.Context, kind, identifier string) (*http.Response, error) {
	response, err := s.ask(ctx, http.MethodGet, kind, identifier)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, refusal(response)
	}
	return response, nil
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

// verified hands content to use, reads the rest, and compares size and digest with
// what a manifest says of it. It returns the error of use only for the right content:
// nobody learns from forged bytes that an image is broken.
func verified(content io.Reader, of descriptor, use func(io.Reader) error) error {
	hasher, err := of.hasher()
	if err != nil {
		return err
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
