package image

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

// userAgent is the user agent of requests that write to registries.
const userAgent = "kubectl-llamastack"

// repository is an image in a registry.
type repository struct {
	registry.Source
	image  string
	ref    name.Reference
	reader *registry.Reader
}

// Identifier returns the tag or the digest.
func (r *repository) Identifier() string { return r.ref.Identifier() }

// Tag returns the tag, or "" for a name with a digest.
func (r *repository) Tag() string {
	if tag, ok := r.ref.(name.Tag); ok {
		return tag.TagStr()
	}
	return ""
}

// Name returns the image's name with a different tag.
func (r *repository) Name(tag string) string {
	if tag == "" {
		return r.image
	}
	return r.ref.Context().Tag(tag).Name()
}

// Write writes blobs before the manifests that refer to them, and the tag last. A client that pulls the tag receives
// either the complete old image or the complete new image.
func (r *repository) Write(ctx context.Context, changed *Labeled, tag string) error {
	if tag = cmp.Or(tag, r.Tag()); tag == "" {
		return fmt.Errorf("image %q %w", r.image, errNoTag)
	}
	pusher, err := remote.NewPusher(remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithTransport(r.reader.Transport()), remote.WithUserAgent(userAgent), remote.WithJobs(1))
	if err != nil {
		return fmt.Errorf("write to %q: %w", r.ref.Context().Name(), err)
	}
	repo := r.ref.Context()
	for i := range changed.Blobs {
		if err := pusher.Upload(ctx, repo, static.NewLayer(changed.Blobs[i].Content,
			changed.Blobs[i].MediaType)); err != nil {
			return fmt.Errorf("write blob %s to %q: %w", changed.Blobs[i].Digest, repo.Name(), registry.Sanitize(err))
		}
	}
	for i := range changed.Manifests {
		if err := pusher.Push(ctx, repo.Digest(changed.Manifests[i].Digest.String()), &changed.Manifests[i]); err != nil {
			return fmt.Errorf("write manifest %s to %q: %w", changed.Manifests[i].Digest, repo.Name(), registry.Sanitize(err))
		}
	}
	if err := pusher.Push(ctx, repo.Tag(tag), &changed.Top); err != nil {
		return fmt.Errorf("write %q: %w", r.Name(tag), registry.Sanitize(err))
	}
	return nil
}
