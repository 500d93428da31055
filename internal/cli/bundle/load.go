package bundle

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"
)

// transfers is the number of concurrent uploads.
const transfers = 4

// Target is the registry that receives the images.
type Target struct {
	// Prefix is the registry (host[:port]), or a path in a registry (host[:port]/path).
	Prefix string
	// Insecure allows plain HTTP.
	Insecure bool
	// Transport is the transport for the registry.
	Transport http.RoundTripper
	// Credentials are the credentials for the registry.
	Credentials authn.Keychain
	// UserAgent is the user agent of requests.
	UserAgent string
}

// Loaded is the result of loading an image.
type Loaded struct {
	Image *Image
	// To is the name of the loaded image.
	To name.Reference
	// Sent counts the bytes of blobs that the registry did not have. Complete reports whether the registry already
	// had the image.
	Sent     int64
	Complete bool
}

// Destinations returns the destination of each image, in the order of the images. It returns an error if two different
// images have the same destination.
func (b *Bundle) Destinations(target *Target) ([]name.Reference, error) {
	var options []name.Option
	if target.Insecure {
		options = append(options, name.Insecure)
	}
	var all []name.Reference
	taken := map[string]*Image{}
	for i := range b.Images {
		image := &b.Images[i]
		to, err := Destination(image.Reference, target.Prefix, options...)
		if err != nil {
			return nil, err
		}
		if other := taken[to.Name()]; other != nil && other.Descriptor.Digest != image.Descriptor.Digest {
			return nil, fmt.Errorf("%q and %q have the same destination %q: load these images from separate bundles "+
				"to different paths in the registry", other.Reference, image.Reference, to.Name())
		}
		taken[to.Name()] = image
		all = append(all, to)
	}
	return all, nil
}

// Load writes an image to a destination. It does not send blobs or manifests that the registry already has, so a load
// after an interruption continues where the interrupted load stopped. Load writes the tag after all content that the
// tag refers to. Errors may contain text from the registry.
func (b *Bundle) Load(ctx context.Context, image *Image, to name.Reference, target *Target) (*Loaded, error) {
	options := []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(target.Credentials), remote.WithTransport(target.Transport),
		remote.WithUserAgent(target.UserAgent), remote.WithJobs(transfers),
	}
	result := &Loaded{Image: image, To: to}
	if found, err := remote.Head(to, options...); err == nil && found.Digest == image.Descriptor.Digest {
		result.Complete = true
		return result, nil
	}
	all, err := parts(ctx, b, image.Descriptor)
	if err != nil {
		return nil, err
	}
	pusher, err := remote.NewPusher(options...)
	if err != nil {
		return nil, err
	}
	if result.Sent, err = b.upload(ctx, pusher, to.Context(), all); err != nil {
		return nil, err
	}
	top := len(all) - 1
	if err := pushManifests(ctx, pusher, to.Context(), all[:top]); err != nil {
		return nil, err
	}
	return result, pusher.Push(ctx, to, &all[top])
}

// upload concurrently sends those parts of an image that are blobs, and returns the number of bytes that it sent.
func (b *Bundle) upload(ctx context.Context, pusher *remote.Pusher, to name.Repository, all []part) (int64, error) {
	var sent atomic.Int64
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i := range all {
		if all[i].content != nil {
			continue
		}
		blob, err := partial.CompressedToLayer(&layer{from: b, of: all[i].Descriptor, sent: &sent})
		if err != nil {
			return 0, err
		}
		group.Go(func() error { return pusher.Upload(within, to, blob) })
	}
	err := group.Wait()
	return sent.Load(), err
}

// pushManifests writes those parts of an image that are manifests. The name of each manifest in the registry is its
// digest.
func pushManifests(ctx context.Context, pusher *remote.Pusher, to name.Repository, all []part) error {
	for i := range all {
		if all[i].content == nil {
			continue
		}
		if err := pusher.Push(ctx, to.Digest(all[i].Digest.String()), &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// RawManifest returns the content of a manifest.
func (p *part) RawManifest() ([]byte, error) { return p.content, nil }

// MediaType returns the media type of a manifest.
func (p *part) MediaType() (types.MediaType, error) { return p.Descriptor.MediaType, nil }

// layer is a blob to send to a registry. It implements partial.CompressedLayer.
type layer struct {
	from blobs
	of   v1.Descriptor
	sent *atomic.Int64
}

// Digest returns the digest of the unchanged blob.
func (l *layer) Digest() (v1.Hash, error) { return l.of.Digest, nil }

// Size returns the size of the unchanged blob.
func (l *layer) Size() (int64, error) { return l.of.Size, nil }

// MediaType returns the media type that the manifest specifies for the blob. The blob can be a layer or a
// configuration. For a layer that must not be distributed, it returns the type of an ordinary OCI layer.
func (l *layer) MediaType() (types.MediaType, error) {
	if l.of.MediaType.IsDistributable() {
		return l.of.MediaType, nil
	}
	return types.OCILayer, nil // The client does not send layers with a nondistributable media type.
}

// Compressed returns the content. The last read returns an error if the content is damaged.
func (l *layer) Compressed() (io.ReadCloser, error) {
	body, err := openVerified(l.from, l.of)
	if err != nil {
		return nil, err
	}
	return &counter{ReadCloser: body, sum: l.sent}, nil
}

// counter counts the bytes that are read through it, and adds them to a sum.
type counter struct {
	io.ReadCloser

	sum *atomic.Int64
}

// Read implements io.Reader.
func (c *counter) Read(into []byte) (int, error) {
	n, err := c.ReadCloser.Read(into)
	c.sum.Add(int64(n))
	return n, err
}
