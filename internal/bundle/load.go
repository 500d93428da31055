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

// transfers are how many blobs are written at once.
const transfers = 4

// Target is the registry that takes the images.
type Target struct {
	// Prefix is host[:port], or what begins a repository there.
	Prefix string
	// Insecure lets it speak plain HTTP.
	Insecure bool
	// Transport reaches it.
	Transport http.RoundTripper
	// Credentials are those for it.
	Credentials authn.Keychain
	// UserAgent is what the registry sees.
	UserAgent string
}

// Loaded is what became of an image.
type Loaded struct {
	Image *Image
	// To is where it is now.
	To name.Reference
	// Sent counts the bytes of blobs that the registry did not have. Complete reports whether it had the image already.
	Sent     int64
	Complete bool
}

// Destinations returns where each image goes, in their order. Two images do not go to one place.
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
			return nil, fmt.Errorf("%q and %q both go to %q: load them from bundles of their own, with another prefix", other.Reference, image.Reference, to.Name())
		}
		taken[to.Name()] = image
		all = append(all, to)
	}
	return all, nil
}

// Load writes an image to a place. Blobs and manifests that the registry has are not sent again, so that a load that was cut
// off goes on where it ended. The tag is written last, when everything that it stands for is there. Errors may hold what
// the registry wrote.
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
	repository := to.Context()
	var sent atomic.Int64
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i := range all {
		if all[i].content != nil {
			continue
		}
		blob, err := partial.CompressedToLayer(&layer{from: b, of: all[i].Descriptor, sent: &sent})
		if err != nil {
			return nil, err
		}
		group.Go(func() error { return pusher.Upload(within, repository, blob) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].content == nil || all[i].Digest == image.Descriptor.Digest {
			continue
		}
		if err := pusher.Push(ctx, repository.Digest(all[i].Digest.String()), &all[i]); err != nil {
			return nil, err
		}
	}
	result.Sent = sent.Load()
	return result, pusher.Push(ctx, to, &all[len(all)-1])
}

// RawManifest is the content of a manifest.
func (p *part) RawManifest() ([]byte, error) { return p.content, nil }

// MediaType is what a registry is told of a manifest.
func (p *part) MediaType() (types.MediaType, error) { return p.Descriptor.MediaType, nil }

// layer is a blob on its way into a registry.
type layer struct {
	from blobs
	of   v1.Descriptor
	sent *atomic.Int64
}

// Digest is that of the blob as it is.
func (l *layer) Digest() (v1.Hash, error) { return l.of.Digest, nil }

// Size is that of the blob as it is.
func (l *layer) Size() (int64, error) { return l.of.Size, nil }

// MediaType is what the manifest says of it. A configuration is a blob as any other.
func (l *layer) MediaType() (types.MediaType, error) {
	if l.of.MediaType.IsDistributable() {
		return l.of.MediaType, nil
	}
	return types.OCILayer, nil // the archive has it, and so has the registry to
}

// Compressed is the content, whose end is an error when it is damaged.
func (l *layer) Compressed() (io.ReadCloser, error) {
	body, err := openVerified(l.from, l.of)
	if err != nil {
		return nil, err
	}
	return &counter{ReadCloser: body, sum: l.sent}, nil
}

// counter counts what is read.
type counter struct {
	io.ReadCloser

	sum *atomic.Int64
}

// Read reads on.
func (c *counter) Read(into []byte) (int, error) {
	n, err := c.ReadCloser.Read(into)
	c.sum.Add(int64(n))
	return n, err
}
